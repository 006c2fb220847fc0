//! The folders in which pi looks for skills.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::settings_file::{SettingsFile, SettingsFileError};
use crate::written_path::written_path;

/// The directories from which skills are looked for.
#[derive(Debug, Clone, Copy)]
pub struct SkillPlaces<'a> {
    /// The directory the child works in.
    pub cwd: &'a Path,
    /// That directory and those above it in which files of a project may be looked for, nearest
    /// first; empty if there is no project.
    pub own_directories: &'a [PathBuf],
    /// The home directory.
    pub home: &'a Path,
    /// The directory of pi and of ours.
    pub agent_dir: &'a Path,
}

/// The number of levels to which a folder of skills is searched.
const DEEPEST: usize = 8;

/// The number of entries of a folder that are looked at. There must be a bound, because a link in
/// the folder may lead to the whole disk.
const MOST_ENTRIES: usize = 10_000;

/// A folder or file that may hold skills.
pub(super) struct SkillPlace {
    pub(super) path: PathBuf,
    /// The project that it belongs to, which its files must not lead out of.
    pub(super) project: Option<PathBuf>,
    plain_files: PlainFiles,
}

/// The levels on which plain markdown files count as skills, beside the files named `SKILL.md`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlainFiles {
    AtRoot,
    BelowRoot,
}

impl SkillPlace {
    /// Returns a folder or file that the user named.
    pub(super) fn of_user(path: PathBuf) -> Self {
        Self {
            path,
            project: None,
            plain_files: PlainFiles::AtRoot,
        }
    }

    /// Returns the files that may be skills.
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

impl SkillPlaces<'_> {
    /// Returns all places, the strongest first; `is_trusted` decides about those of a project.
    pub(super) fn all(&self, is_trusted: &dyn Fn(&Path) -> bool) -> Vec<SkillPlace> {
        let mut found = self.of_project(is_trusted);
        let named = self.named_in(SettingsFile::of_user(self.agent_dir), self.agent_dir);
        found.extend(named.into_iter().map(SkillPlace::of_user));
        found.push(SkillPlace::of_user(self.agent_dir.join("skills")));
        found.push(SkillPlace {
            plain_files: PlainFiles::BelowRoot,
            ..SkillPlace::of_user(self.home.join(".agents").join("skills"))
        });
        found
    }

    fn of_project(&self, is_trusted: &dyn Fn(&Path) -> bool) -> Vec<SkillPlace> {
        let mut found = Vec::new();
        let is_own = self.own_directories.first().map(PathBuf::as_path) == Some(self.cwd);
        if is_own && is_trusted(self.cwd) {
            let configuration = self.cwd.join(".pi");
            let mut paths = self.named_in(SettingsFile::of_project(self.cwd), &configuration);
            paths.push(configuration.join("skills"));
            found.extend(paths.into_iter().map(|path| SkillPlace {
                path,
                project: Some(self.cwd.to_owned()),
                plain_files: PlainFiles::AtRoot,
            }));
        }
        for directory in up_to_repository(self.own_directories) {
            if is_trusted(directory) {
                found.push(SkillPlace {
                    path: directory.join(".agents").join("skills"),
                    project: Some(directory.to_owned()),
                    plain_files: PlainFiles::BelowRoot,
                });
            }
        }
        found
    }

    /// Returns the plain paths of pi's own `skills` setting; patterns are left to pi.
    ///
    /// A file that cannot be read names no path. The warning about it comes from the code that
    /// reads the settings.
    fn named_in(
        &self,
        settings: Result<SettingsFile, SettingsFileError>,
        base: &Path,
    ) -> Vec<PathBuf> {
        let Ok(settings) = settings else {
            return Vec::new();
        };
        let paths = settings.texts("skills");
        paths
            .filter(|path| !path.starts_with(['!', '+', '-']) && !path.contains('*'))
            .map(|path| written_path(path, base, self.home))
            .collect()
    }
}

/// Returns the directories up to the root of the repository, nearest first.
pub fn up_to_repository(directories: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
    let is_root = |directory: &PathBuf| directory.join(".git").exists();
    let root = directories.iter().position(is_root);
    let count = root.map_or(usize::MAX, |position| position + 1);
    directories.iter().take(count)
}

/// Returns whether a file can be nothing but a skill.
pub(super) fn is_main_file(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "SKILL.md")
}
