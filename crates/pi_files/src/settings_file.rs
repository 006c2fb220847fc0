//! One `settings.json` of pi.

use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{Directory, FileRefusal, is_absent, read_own};
use serde_json::{Map, Value};

use crate::json::{self, Step, position_of};
use crate::problem::{Position, Problem};

const FILE: &str = "settings.json";

/// The settings file of a project, relative to the project.
const PROJECT_FILE: &str = ".pi/settings.json";

/// A larger settings file is not read.
const LARGEST_FILE: u64 = 4 << 20;

/// A settings file. A file that does not exist holds no settings.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsFile {
    /// The path of the file.
    pub path: PathBuf,
    text: String,
    values: Map<String, Value>,
}

/// The reason why a settings file is not used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsFileError {
    /// It exists and cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Pi takes no comments here, and neither do we.
    #[error("{} is not JSON: {}", problem.place(path), problem.message)]
    NotJson {
        /// The file.
        path: PathBuf,
        /// The place at which the file stops being JSON, and why.
        problem: Problem,
    },
    /// It is a link to a file outside of the project that it came with.
    #[error("{}: leads out of the project; it is ignored", path.display())]
    LeadsOut {
        /// The file.
        path: PathBuf,
    },
}

impl SettingsFile {
    /// Reads the user's settings, which may be a link to wherever the user keeps them.
    pub fn of_user(agent_dir: &Path) -> Result<Self, SettingsFileError> {
        let path = agent_dir.join(FILE);
        let content = read_own(&path, LARGEST_FILE);
        Self::parse(path, content)
    }

    /// Reads the settings that came with a project.
    ///
    /// The caller decides before whether the project is trusted.
    pub fn of_project(project: &Path) -> Result<Self, SettingsFileError> {
        let path = Self::project_path(project);
        let content = Directory::open(project)
            .and_then(|project| project.read_beneath(Path::new(PROJECT_FILE), LARGEST_FILE));
        Self::parse(path, content)
    }

    /// Returns where a project keeps its settings.
    pub fn project_path(project: &Path) -> PathBuf {
        project.join(PROJECT_FILE)
    }

    /// Returns the place of something in the file, such as `settings.json:3:11`.
    pub fn place(&self, path: &[Step<'_>]) -> String {
        match position_of(&self.text, path) {
            Some(position) => position.in_file(&self.path),
            None => self.path.display().to_string(),
        }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    /// Returns the text of a key; a value that is no text counts as absent.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// Returns the texts in the list of a key. Other values are left out.
    pub fn texts(&self, key: &str) -> impl Iterator<Item = &str> {
        let list = self.get(key).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns whether the file contains a word anywhere.
    pub fn mentions(&self, word: &str) -> bool {
        let text = serde_json::to_string(&self.values).unwrap_or_default();
        text.contains(word)
    }

    /// Returns all values.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    fn parse(path: PathBuf, content: io::Result<Vec<u8>>) -> Result<Self, SettingsFileError> {
        let content = match content {
            Ok(content) => content,
            Err(error) if is_absent(&error) => b"{}".to_vec(),
            Err(error) if matches!(FileRefusal::of(&error), Some(FileRefusal::LeadsOut)) => {
                return Err(SettingsFileError::LeadsOut { path });
            }
            Err(source) => return Err(SettingsFileError::Unreadable { path, source }),
        };
        let text = String::from_utf8_lossy(&content).into_owned();
        let values = match json::parse(&text) {
            Ok(Value::Object(values)) => values,
            Ok(_) => {
                let problem = Problem::at(Position::line(1), "it must hold one object in braces");
                return Err(SettingsFileError::NotJson { path, problem });
            }
            Err(problem) => return Err(SettingsFileError::NotJson { path, problem }),
        };
        Ok(Self { path, text, values })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_missing_file_is_empty_and_a_broken_one_an_error_that_names_it() {
        let root = tempfile::tempdir().unwrap();
        let read = || SettingsFile::of_user(root.path());
        assert_eq!(read().unwrap().values(), &Map::new());
        let file = root.path().join(FILE);
        fs::write(
            &file,
            "\u{feff}{\"skills\": [\"a\", 1], \"theme\": \"dark\"}",
        )
        .unwrap();
        let settings = read().unwrap();
        assert_eq!(settings.texts("skills").collect::<Vec<_>>(), ["a"]);
        assert_eq!(
            (settings.text("theme"), settings.text("skills")),
            (Some("dark"), None)
        );
        fs::write(&file, "// a comment").unwrap();
        let error = read().unwrap_err().to_string();
        let expected = "settings.json:1:1 is not JSON: comments are not allowed in this file";
        assert!(error.ends_with(expected), "{error}");
    }

    #[test]
    fn a_link_out_of_the_project_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        fs::create_dir_all(project.join(".pi")).unwrap();
        fs::write(root.path().join("outside.json"), "{}").unwrap();
        let file = SettingsFile::project_path(&project);
        symlink(root.path().join("outside.json"), &file).unwrap();
        let error = SettingsFile::of_project(&project).unwrap_err();
        assert!(
            matches!(error, SettingsFileError::LeadsOut { .. }),
            "{error}"
        );
        fs::remove_file(&file).unwrap();
        fs::write(&file, "{\"theme\": \"dark\"}").unwrap();
        let settings = SettingsFile::of_project(&project).unwrap();
        assert_eq!(settings.text("theme"), Some("dark"));
    }
}
