//! Skills: instructions for special tasks, found where pi finds them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::Directory;
use serde::{Deserialize, Serialize};

use crate::markdown::{self, LONGEST_FILE};
use crate::problem::Problem;
use crate::skill_places::{SkillPlace, SkillPlaces, is_main_file};
use crate::written_path::written_path;
use crate::yaml::{self, Value};

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// The purpose of the skill.
    pub description: String,
}

/// A skill that was read from its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSkill {
    /// The skill.
    pub skill: Skill,
    /// True if a prompt must not mention the skill (`disable-model-invocation`). A definition may
    /// still name it.
    pub is_hidden: bool,
}

/// The skills of all places, and the files that are not usable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundSkills {
    /// The skills, the strongest place first. Only the first skill of a name is here.
    pub skills: Vec<FoundSkill>,
    /// The files and folders that are not used, and why.
    pub problems: Vec<(PathBuf, Problem)>,
}

/// Finds the skills that pi would find; `is_trusted` decides which projects count.
pub fn discover_skills(
    places: &SkillPlaces<'_>,
    is_trusted: impl Fn(&Path) -> bool,
) -> FoundSkills {
    let mut found = FoundSkills::default();
    for place in places.all(&is_trusted) {
        found.add_place(&place);
    }
    found
}

/// Adds the skills in files and folders that the user named, relative to the working directory.
/// As in pi, a path that does not exist is no error.
pub fn read_skills(named: &[String], places: &SkillPlaces<'_>, found: &mut FoundSkills) {
    for path in named {
        let path = written_path(path, places.cwd, places.home);
        found.add_place(&SkillPlace::of_user(path));
    }
}

impl FoundSkills {
    fn add_place(&mut self, place: &SkillPlace) {
        if let Some(project) = &place.project
            && let Err(problem) = beneath(project, &place.path)
        {
            self.problems.push((place.path.clone(), problem));
            return;
        }
        for file in place.candidates() {
            let content = match &place.project {
                Some(project) => read_of_project(project, &file),
                None => markdown::read(&file),
            };
            match content.and_then(|content| parse(&file, &content)) {
                Ok(found) => self.add(found),
                // Any other markdown file need not be a skill.
                Err(_) if !is_main_file(&file) => {}
                Err(problem) => self.problems.push((file, problem)),
            }
        }
    }

    fn add(&mut self, found: FoundSkill) {
        let is_known = |known: &FoundSkill| known.skill.name == found.skill.name;
        if !self.skills.iter().any(is_known) {
            self.skills.push(found);
        }
    }
}

/// Returns the real path of a project's file, relative to the project. The path is empty if the
/// file does not exist.
fn beneath(project: &Path, file: &Path) -> Result<PathBuf, Problem> {
    let (Ok(project), Ok(real)) = (fs::canonicalize(project), fs::canonicalize(file)) else {
        return Ok(PathBuf::new());
    };
    match real.strip_prefix(project) {
        Ok(below) => Ok(below.to_owned()),
        Err(_) => Err(Problem::new("leads out of the project")),
    }
}

/// Reads a project's file. The path is opened without links, so a change after the check gains an
/// attacker nothing.
fn read_of_project(project: &Path, file: &Path) -> Result<Vec<u8>, Problem> {
    let below = beneath(project, file)?;
    let open =
        || -> io::Result<Vec<u8>> { Directory::open(project)?.read_beneath(&below, LONGEST_FILE) };
    open().map_err(|error| markdown::unreadable(file, &error))
}

fn parse(file: &Path, content: &[u8]) -> Result<FoundSkill, Problem> {
    let text = markdown::text_of(content)?;
    let entries = yaml::parse(markdown::split(text)?.frontmatter)?;
    let value_of = |key: &str| {
        let entry = entries.iter().find(|entry| entry.key == key)?;
        Some(&entry.value.value)
    };
    let text_of = |key: &str| {
        match value_of(key)? {
            Value::Text(text) | Value::Number(text) => Some(text.trim().to_owned()),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
        }
        .filter(|text| !text.is_empty())
    };
    let Some(description) = text_of("description") else {
        return Err(Problem::new("a skill needs a \"description\""));
    };
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
    Ok(FoundSkill {
        skill: Skill {
            name: text_of("name").unwrap_or_else(|| folder.to_string_lossy().into_owned()),
            file: file.to_owned(),
            description,
        },
        is_hidden: value_of("disable-model-invocation") == Some(&Value::Bool(true)),
    })
}

#[cfg(test)]
mod tests;
