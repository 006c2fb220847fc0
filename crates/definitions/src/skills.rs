//! Skills: found where pi finds them, suggested by path or loaded by content.

mod ignored;
mod places;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pi_subagents_delegation::{Definition, text};

use crate::folder::read_bytes;
use crate::markdown;
use crate::outside::leads_out_of;
use crate::trust::Trust;
use crate::warning::{Problem, Warning};
use crate::yaml::{self, Value};
pub use ignored::ignored_skills;
use places::{Place, all_places, is_main_file};

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
    /// That directory and those above it in which files of a project may be looked for, nearest
    /// first; none where there is no project.
    pub own_directories: &'a [PathBuf],
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
        if let Some(project) = &place.project
            && leads_out_of(project, &place.path)
        {
            let problem = Problem::new("leads out of the project");
            self.warnings.push(problem.in_file(place.path.clone()));
            return;
        }
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
