//! The skills that definitions name: suggested by path or loaded by content.

mod untrusted_skills;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use pi_subagents_pi_files::{Problem, Skill, SkillPlaces, discover_skills, markdown};
use pi_subagents_vocabulary::{Definition, text};

use crate::outside_files::leads_out_of;
use crate::trust::Trust;
use crate::warning::Warning;
pub use untrusted_skills::ignored_skills;

/// The skills that can be seen from a directory, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skills {
    by_name: BTreeMap<String, Skill>,
    warnings: Vec<Warning>,
}

/// The skills of a definition, found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResolvedSkills {
    /// The files of suggested skills.
    pub suggested: Vec<PathBuf>,
    /// The `<loaded_skill>` blocks of the skills that are loaded.
    pub loaded: Vec<String>,
}

/// The skills of a definition cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillError {
    /// There are no such skills.
    #[error("Unknown skills: {unknown}. Available skills: {available}")]
    Unknown {
        /// The skills that were asked for and do not exist.
        unknown: String,
        /// The skills that exist.
        available: String,
    },
    /// A skill is there but cannot be read.
    #[error("Skill \"{name}\" cannot be loaded: {} {reason}", file.display())]
    Unreadable {
        /// The skill.
        name: String,
        /// Its file.
        file: PathBuf,
        /// The reason why it cannot be used.
        reason: String,
    },
}

impl Skills {
    /// Finds skills as pi does: the first of a name counts, and a project's only if trusted.
    pub fn discover(places: &SkillPlaces<'_>, trust: &Trust) -> Self {
        let found = discover_skills(places, |project| trust.of(project).is_trusted());
        let problems = found.problems.into_iter();
        Self {
            warnings: problems
                .map(|(file, problem)| Warning::skipped(file, problem))
                .collect(),
            ..Self::from_list(found.skills.into_iter().map(|found| found.skill))
        }
    }

    /// Takes over a list that was resolved elsewhere, for example by pi itself.
    pub fn from_list(list: impl IntoIterator<Item = Skill>) -> Self {
        let mut skills = Self::default();
        for skill in list {
            let name = skill.name.clone();
            skills.by_name.entry(name).or_insert(skill);
        }
        skills
    }

    /// Takes over the list of the pi that calls, without the project's skills that lead out of the
    /// project: pi follows such links.
    pub fn of_pi(list: &[Skill], project: Option<&Path>) -> Self {
        let is_stray = |skill: &Skill| {
            project.is_some_and(|project| {
                skill.file.starts_with(project) && leads_out_of(project, &skill.file)
            })
        };
        Self::from_list(list.iter().filter(|skill| !is_stray(skill)).cloned())
    }

    /// Returns the skill of a name.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.by_name.get(name)
    }

    /// Returns all skills, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.by_name.values()
    }

    /// Returns the problems of files that look like skills.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns the files and contents of a definition's skills.
    pub fn resolve(&self, definition: &Definition) -> Result<ResolvedSkills, SkillError> {
        let unknown = self.unknown(definition);
        if !unknown.is_empty() {
            let quoted = unknown.iter();
            let quoted = quoted.map(|name| format!("\"{}\"", text::clean(name)));
            return Err(SkillError::Unknown {
                unknown: quoted.collect::<Vec<_>>().join(", "),
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
            loaded: loaded.map(load).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the skills that a definition names and that are not there, each once.
    fn unknown<'a>(&self, definition: &'a Definition) -> Vec<&'a str> {
        let suggested = definition.suggested_skills.iter();
        let wanted = suggested.chain(&definition.load_skills).map(String::as_str);
        let mut seen = HashSet::new();
        wanted
            .filter(|name| self.get(name).is_none() && seen.insert(*name))
            .collect()
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
        if names.is_empty() {
            return "(none)".to_owned();
        }
        names.join(", ")
    }
}

/// Returns the content of a skill as a part of a system prompt.
fn load(skill: &Skill) -> Result<String, SkillError> {
    let unreadable = |problem: Problem| SkillError::Unreadable {
        name: skill.name.clone(),
        file: skill.file.clone(),
        reason: problem.message,
    };
    let content = markdown::read(&skill.file).map_err(unreadable)?;
    let content = markdown::text_of(&content).map_err(unreadable)?;
    let body = markdown::body_of(content).trim();
    Ok(format!(
        "<loaded_skill name=\"{}\">\n{body}\n</loaded_skill>",
        skill.name
    ))
}
