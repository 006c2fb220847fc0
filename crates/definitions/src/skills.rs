//! Skills: found where pi finds them, suggested by path or loaded by content.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use pi_subagents_delegation::{Definition, text};
use serde_json::Value as Json;

use crate::folder::read_bytes;
use crate::markdown;
use crate::places::{is_same, leads_out_of};
use crate::trust::Trust;
use crate::warning::{Problem, Warning};
use crate::yaml::{self, Value};

/// How deep a folder of skills is searched.
const DEEPEST: usize = 8;

/// The skills that can be seen from a directory, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skills {
    by_name: BTreeMap<String, Skill>,
    warnings: Vec<Warning>,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// What it is good for.
    pub description: String,
}

/// From where skills are looked for.
#[derive(Debug, Clone, Copy)]
pub struct SkillPlaces<'a> {
    /// The directory the child works in.
    pub cwd: &'a Path,
    /// The home directory.
    pub home: &'a Path,
    /// The directory of pi and of ours.
    pub agent_dir: &'a Path,
}

/// What the skills of a definition come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResolvedSkills {
    /// The files of suggested skills.
    pub suggested: Vec<PathBuf>,
    /// The `<loaded_skill>` blocks of loaded ones.
    pub loaded: Vec<String>,
}

/// The skills of a definition cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    /// There are no such skills.
    #[error("Unknown skills: {unknown}. Available skills: {available}")]
    Unknown {
        /// Those asked for in vain.
        unknown: String,
        /// Those there are.
        available: String,
    },
    /// A skill is there but cannot be read.
    #[error("Skill \"{name}\" cannot be loaded: {} {reason}", file.display())]
    Unreadable {
        /// The skill.
        name: String,
        /// Its file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl Skills {
    /// Finds skills as pi does: the first of a name counts, and a project's only if trusted.
    pub fn discover(places: &SkillPlaces<'_>, trust: &Trust) -> Self {
        let mut skills = Self::default();
        for place in all_places(places, trust) {
            skills.add_place(&place);
        }
        skills
    }

    /// Takes over a list that was resolved elsewhere, for example by pi itself.
    pub fn from_list(list: impl IntoIterator<Item = Skill>) -> Self {
        let mut skills = Self::default();
        for skill in list {
            skills.add(skill);
        }
        skills
    }

    /// The skill of a name.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.by_name.get(name)
    }

    /// All skills, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.by_name.values()
    }

    /// What is wrong with files that look like skills.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The files and contents of a definition's skills.
    pub fn resolve(&self, definition: &Definition) -> Result<ResolvedSkills, SkillError> {
        let wanted = definition
            .suggested_skills
            .iter()
            .chain(&definition.load_skills);
        let mut unknown: Vec<String> = wanted
            .filter(|name| !self.by_name.contains_key(*name))
            .map(|name| format!("\"{}\"", text::clean(name)))
            .collect();
        if !unknown.is_empty() {
            unknown.dedup();
            return Err(SkillError::Unknown {
                unknown: unknown.join(", "),
                available: self.names(),
            });
        }
        let suggested = definition
            .suggested_skills
            .iter()
            .filter_map(|name| self.get(name));
        let loaded = definition
            .load_skills
            .iter()
            .filter_map(|name| self.get(name));
        Ok(ResolvedSkills {
            suggested: suggested.map(|skill| skill.file.clone()).collect(),
            loaded: loaded.map(Skill::block).collect::<Result<_, _>>()?,
        })
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
        if names.is_empty() {
            return "(none)".to_owned();
        }
        names.join(", ")
    }

    fn add(&mut self, skill: Skill) {
        self.by_name.entry(skill.name.clone()).or_insert(skill);
    }

    fn add_place(&mut self, place: &Place) {
        for file in place.candidates() {
            let read = match &place.project {
                Some(project) if leads_out_of(project, &file) => {
                    Err(Problem::new("leads out of the project"))
                }
                Some(_) | None => read_skill(&file),
            };
            match read {
                Ok(skill) => self.add(skill),
                // Any other markdown file need not be a skill.
                Err(_) if !is_main_file(&file) => {}
                Err(problem) => self.warnings.push(problem.in_file(file)),
            }
        }
    }
}

impl Skill {
    /// Its content as a part of a system prompt.
    fn block(&self) -> Result<String, SkillError> {
        let content = read_text(&self.file).map_err(|problem| SkillError::Unreadable {
            name: self.name.clone(),
            file: self.file.clone(),
            reason: problem.message,
        })?;
        let body = markdown::body_of(&content).trim();
        Ok(format!(
            "<loaded_skill name=\"{}\">\n{body}\n</loaded_skill>",
            self.name
        ))
    }
}

/// A folder or file that may hold skills.
struct Place {
    path: PathBuf,
    /// What the files must not lead out of.
    project: Option<PathBuf>,
    plain_files: PlainFiles,
}

/// Where plain markdown files count as skills.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlainFiles {
    AtRoot,
    BelowRoot,
}

impl Place {
    fn candidates(&self) -> impl Iterator<Item = PathBuf> {
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
        walk.flatten().filter_map(move |entry| {
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

fn all_places(places: &SkillPlaces<'_>, trust: &Trust) -> Vec<Place> {
    let mut found = Vec::new();
    if !is_same(places.cwd, places.home) {
        found.extend(project_places(places, trust));
    }
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
    if trust.of(places.cwd).is_trusted() {
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
    for directory in up_to_repository(places.cwd) {
        if !is_same(directory, places.home) && trust.of(directory).is_trusted() {
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
fn up_to_repository(cwd: &Path) -> Vec<&Path> {
    let root = cwd
        .ancestors()
        .position(|ancestor| ancestor.join(".git").exists());
    let count = root.map_or(usize::MAX, |position| position + 1);
    cwd.ancestors().take(count).collect()
}

/// The plain paths of pi's own `skills` setting; patterns are left to pi.
fn named_in(settings: &Path, base: &Path, home: &Path) -> Vec<PathBuf> {
    let content = fs::read_to_string(settings).unwrap_or_default();
    let whole: Json = serde_json::from_str(&content).unwrap_or_default();
    let Some(entries) = whole.get("skills").and_then(Json::as_array) else {
        return Vec::new();
    };
    let paths = entries.iter().filter_map(Json::as_str);
    paths
        .filter(|path| !path.starts_with(['!', '+', '-']) && !path.contains('*'))
        .map(|path| match Path::new(path).strip_prefix("~") {
            Ok(rest) => home.join(rest),
            Err(_) => base.join(path),
        })
        .collect()
}

fn is_main_file(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "SKILL.md")
}

fn read_text(file: &Path) -> Result<String, Problem> {
    let bytes = read_bytes(file)?;
    Ok(markdown::text_of(&bytes)?.to_owned())
}

fn read_skill(file: &Path) -> Result<Skill, Problem> {
    let content = read_text(file)?;
    let entries = yaml::parse(markdown::split(&content)?.frontmatter)?;
    let text_of = |key: &str| {
        let entry = entries.iter().find(|entry| entry.key == key)?;
        match &entry.value.value {
            Value::Text(text) | Value::Number(text) => Some(text.trim().to_owned()),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
        }
        .filter(|text| !text.is_empty())
    };
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
    let Some(description) = text_of("description") else {
        return Err(Problem::new("a skill needs a \"description\""));
    };
    Ok(Skill {
        name: text_of("name").unwrap_or_else(|| folder.to_string_lossy().into_owned()),
        file: file.to_owned(),
        description,
    })
}
