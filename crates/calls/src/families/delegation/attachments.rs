//! Files that are put before a prompt.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{open_own, read_bounded};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::arguments;

/// A larger file is not read.
const LARGEST_FILE: u64 = 1 << 20;

/// A file to put before the prompt: its path, or its path and which of its lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FileSpec {
    /// The whole file.
    Path(PathBuf),
    /// Some of its lines; `tail` beats `head` beats `start` and `end`.
    Lines(FileLines),
}

/// Lines are counted from 1, and ranges include their end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileLines {
    /// Relative to the task's cwd, or absolute.
    #[serde(deserialize_with = "path_text")]
    #[schemars(with = "String")]
    path: PathBuf,
    /// First line.
    #[serde(default, deserialize_with = "arguments::optional_count")]
    #[schemars(range(min = 1))]
    start: Option<usize>,
    /// Last line.
    #[serde(default, deserialize_with = "arguments::optional_count")]
    #[schemars(range(min = 1))]
    end: Option<usize>,
    /// Number of lines from the start.
    #[serde(default, deserialize_with = "arguments::optional_count")]
    #[schemars(range(min = 1))]
    head: Option<usize>,
    /// Number of lines from the end.
    #[serde(default, deserialize_with = "arguments::optional_count")]
    #[schemars(range(min = 1))]
    tail: Option<usize>,
}

/// Written by hand, because an untagged enum would lose the place of the error.
impl<'de> Deserialize<'de> for FileSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathOrLines;

        impl<'de> Visitor<'de> for PathOrLines {
            type Value = FileSpec;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a path or an object with a path")
            }

            fn visit_str<E>(self, path: &str) -> Result<FileSpec, E> {
                Ok(FileSpec::Path(PathBuf::from(path)))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<FileSpec, M::Error> {
                FileLines::deserialize(MapAccessDeserializer::new(map)).map(FileSpec::Lines)
            }
        }

        deserializer.deserialize_any(PathOrLines)
    }
}

fn path_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    arguments::text(deserializer).map(PathBuf::from)
}

impl FileSpec {
    /// Returns the path, as the caller wrote it.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Path(path) => path,
            Self::Lines(lines) => &lines.path,
        }
    }

    fn chosen(&self, content: &str) -> String {
        match self {
            Self::Path(_) => content.to_owned(),
            Self::Lines(lines) => lines.of(content),
        }
    }
}

impl FileLines {
    fn of(&self, content: &str) -> String {
        let lines: Vec<&str> = content.split_inclusive('\n').collect();
        let count = lines.len();
        let range = match (self.tail, self.head) {
            (Some(tail), _) => count.saturating_sub(tail)..count,
            (None, Some(head)) => 0..head.min(count),
            (None, None) => {
                self.start.map_or(0, |start| start - 1)..self.end.unwrap_or(count).min(count)
            }
        };
        lines.get(range).unwrap_or_default().concat()
    }
}

/// Names the first file that does not exist, in the documented words.
pub(super) fn missing_file(files: &[FileSpec], cwd: &Path) -> Option<String> {
    let is_missing = |file: &&FileSpec| {
        let path = cwd.join(file.path());
        matches!(std::fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
    };
    files.iter().find(is_missing).map(not_found)
}

fn not_found(file: &FileSpec) -> String {
    format!("file not found: {}", file.path().display())
}

/// Puts files before a prompt. A file that cannot be read is replaced by a note for the child;
/// these notes are also returned, for the caller.
pub(super) fn with_files(files: &[FileSpec], cwd: &Path, prompt: &str) -> (String, Vec<String>) {
    let mut whole = String::new();
    let mut problems = Vec::new();
    for file in files {
        match read(file, cwd) {
            Ok(content) => whole.push_str(&section(file, &content)),
            Err(problem) => {
                whole.extend(["[", &problem, "]\n\n"]);
                problems.push(problem);
            }
        }
    }
    whole.push_str(prompt);
    (whole, problems)
}

fn section(file: &FileSpec, content: &str) -> String {
    let newline = if content.ends_with('\n') { "" } else { "\n" };
    format!("=== {} ===\n{content}{newline}\n", file.path().display())
}

/// Reads the wanted lines of a file, or returns its problem in the documented words.
fn read(file: &FileSpec, cwd: &Path) -> Result<String, String> {
    let path = cwd.join(file.path());
    let opened = match open_own(&path) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(not_found(file));
        }
        Err(_) => return Err(could_not_read(file)),
    };
    let length = opened.metadata().map_or(0, |metadata| metadata.len());
    if length > LARGEST_FILE {
        return Err(format!(
            "file too large: {} ({}KB, limit 1024KB)",
            file.path().display(),
            length.div_ceil(1024)
        ));
    }
    let content = read_bounded(&opened, LARGEST_FILE).map_err(|_| could_not_read(file))?;
    let content = String::from_utf8(content).map_err(|_| could_not_read(file))?;
    Ok(file.chosen(&content))
}

fn could_not_read(file: &FileSpec) -> String {
    format!("could not read file: {}", file.path().display())
}
