//! Where skills lie, as pi has it.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use pi_subagents_files::read_own;
use serde_json::Value;

use super::SkillPlaces;
use crate::trust::Trust;

/// How deep a folder of skills is searched.
const DEEPEST: usize = 8;

/// How much of a folder is searched: a link in it may lead to everything there is.
const MOST_ENTRIES: usize = 10_000;

/// A larger settings file is not read.
const LARGEST_SETTINGS: u64 = 4 << 20;

/// A folder or file that may hold skills.
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// What the files must not lead out of.
    pub(super) project: Option<PathBuf>,
    plain_files: PlainFiles,
}

/// Where plain markdown files count as skills.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlainFiles {
    AtRoot,
    BelowRoot,
}

impl Place {
    /// The files that may be skills.
    pub(super) fn candidates(&self) -> impl Iterator<Item = PathBuf> {
        let walk = WalkBuilder::new(&self.path)
            .follow_links(true)
            .max_depth(Some(DEEPEST))
            .parents(false)
            .require_git(false)
            .git_global(false)
            .git_exclude(false)
            .add_custom_ignore_filename(".fdignore")
            .sort_by_file_name(std::cmp::Ord::cmp)
            .filter_entry(|entry| {
                let is_inside_skill = entry.depth() > 0
                    && !is_main_file(entry.path())
                    && entry.path().with_file_name("SKILL.md").is_file();
                entry.file_name() != "node_modules" && !is_inside_skill
            })
            .build();
        let plain_files = self.plain_files;
        walk.flatten().take(MOST_ENTRIES).filter_map(move |entry| {
            let is_plain_skill = match plain_files {
                PlainFiles::AtRoot => entry.depth() <= 1,
                PlainFiles::BelowRoot => entry.depth() != 1,
            };
            let is_markdown = entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "md");
            let counts = is_main_file(entry.path()) || (is_markdown && is_plain_skill);
            (counts && entry.path().is_file()).then(|| entry.into_path())
        })
    }
}

/// All places, the strongest first.
pub(super) fn all_places(places: &SkillPlaces<'_>, trust: &Trust) -> Vec<Place> {
    let mut found = Vec::new();
    found.extend(project_places(places, trust));
    let user = |path: PathBuf, plain_files| Place {
        path,
        project: None,
        plain_files,
    };
    let named = named_in(
        &places.agent_dir.join("settings.json"),
        places.agent_dir,
        places.home,
    );
    found.extend(named.into_iter().map(|path| user(path, PlainFiles::AtRoot)));
    found.push(user(places.agent_dir.join("skills"), PlainFiles::AtRoot));
    found.push(user(
        places.home.join(".agents").join("skills"),
        PlainFiles::BelowRoot,
    ));
    found
}

fn project_places(places: &SkillPlaces<'_>, trust: &Trust) -> Vec<Place> {
    let mut found = Vec::new();
    let configuration = places.cwd.join(".pi");
    let is_own = places.own_directories.first().map(PathBuf::as_path) == Some(places.cwd);
    if is_own && trust.of(places.cwd).is_trusted() {
        let mut paths = named_in(
            &configuration.join("settings.json"),
            &configuration,
            places.home,
        );
        paths.push(configuration.join("skills"));
        found.extend(paths.into_iter().map(|path| Place {
            path,
            project: Some(places.cwd.to_owned()),
            plain_files: PlainFiles::AtRoot,
        }));
    }
    for directory in up_to_repository(places.own_directories) {
        if trust.of(directory).is_trusted() {
            found.push(Place {
                path: directory.join(".agents").join("skills"),
                project: Some(directory.to_owned()),
                plain_files: PlainFiles::BelowRoot,
            });
        }
    }
    found
}

/// The directory and those above it, up to the root of the repository.
pub(super) fn up_to_repository(directories: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
    let is_root = |directory: &PathBuf| directory.join(".git").exists();
    let root = directories.iter().position(is_root);
    let count = root.map_or(usize::MAX, |position| position + 1);
    directories.iter().take(count)
}

/// The plain paths of pi's own `skills` setting; patterns are left to pi.
fn named_in(settings: &Path, base: &Path, home: &Path) -> Vec<PathBuf> {
    let content = read_own(settings, LARGEST_SETTINGS).unwrap_or_default();
    let whole: Value = serde_json::from_slice(&content).unwrap_or_default();
    let Some(entries) = whole.get("skills").and_then(Value::as_array) else {
        return Vec::new();
    };
    let paths = entries.iter().filter_map(Value::as_str);
    paths
        .filter(|path| !path.starts_with(['!', '+', '-']) && !path.contains('*'))
        .map(|path| match Path::new(path).strip_prefix("~") {
            Ok(rest) => home.join(rest),
            Err(_) => base.join(path),
        })
        .collect()
}

/// Whether a file can be nothing but a skill.
pub(super) fn is_main_file(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "SKILL.md")
}
