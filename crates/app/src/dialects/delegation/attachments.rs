//! Files that are put before a prompt.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::dialects::arguments;

/// A larger file is not read.
const LARGEST_FILE: u64 = 1 << 20;

/// A file to put before the prompt: its path, or its path and which of its lines.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum FileSpec {
    /// The whole file; relative to the task's cwd, or absolute.
    Path(String),
    /// Some lines of it. `tail` beats `head` beats `start` and `end`.
    Lines(FileLines),
}

/// Lines are counted from 1, and ranges include their end.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct FileLines {
    /// Path of the file, relative to the task's cwd or absolute.
    #[serde(deserialize_with = "arguments::text")]
    path: String,
    /// First line.
    #[serde(default, deserialize_with = "arguments::optional_count")]
    #[schemars(range(min = 1))]
    start: Option<usize>,
    /// Last line.
    #[serde(default, deserialize_with = "arguments::optional_count")]
    #[schemars(range(min = 1))]
    end: Option<usize>,
    /// Only the first so many lines.
    #[serde(default, deserialize_with = "arguments::optional_count")]
    #[schemars(range(min = 1))]
    head: Option<usize>,
    /// Only the last so many lines.
    #[serde(default, deserialize_with = "arguments::optional_count")]
    #[schemars(range(min = 1))]
    tail: Option<usize>,
}

/// By hand, because an untagged enum would lose where the error was.
impl<'de> Deserialize<'de> for FileSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathOrLines;

        impl<'de> Visitor<'de> for PathOrLines {
            type Value = FileSpec;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a path or an object with a path")
            }

            fn visit_str<E>(self, path: &str) -> Result<FileSpec, E> {
                Ok(FileSpec::Path(path.to_owned()))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<FileSpec, M::Error> {
                FileLines::deserialize(MapAccessDeserializer::new(map)).map(FileSpec::Lines)
            }
        }

        deserializer.deserialize_any(PathOrLines)
    }
}

impl FileSpec {
    fn path(&self) -> &str {
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

/// Puts files before a prompt. What cannot be read is said in its place.
pub(super) fn with_files(files: &[FileSpec], cwd: &Path, prompt: &str) -> String {
    let mut whole: String = files.iter().map(|file| section(file, cwd)).collect();
    whole.push_str(prompt);
    whole
}

fn section(file: &FileSpec, cwd: &Path) -> String {
    let content = read(file, cwd);
    let newline = if content.ends_with('\n') { "" } else { "\n" };
    format!("=== {} ===\n{content}{newline}\n", file.path())
}

fn read(file: &FileSpec, cwd: &Path) -> String {
    let path = cwd.join(file.path());
    let metadata = match fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return format!("[file not found: {}]", file.path());
        }
        Err(_) => return could_not_read(file),
    };
    if !metadata.is_file() {
        return could_not_read(file);
    }
    if metadata.len() > LARGEST_FILE {
        return format!(
            "[file too large: {} ({}KB, limit 1024KB)]",
            file.path(),
            metadata.len().div_ceil(1024)
        );
    }
    match fs::read_to_string(&path) {
        Ok(content) => file.chosen(&content),
        Err(_) => could_not_read(file),
    }
}

fn could_not_read(file: &FileSpec) -> String {
    format!("[could not read file: {}]", file.path())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn prompt(files: &Value) -> String {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &[u8]| {
            fs::write(directory.path().join(name), content).unwrap();
        };
        write("abc.txt", b"one\ntwo\nthree\nfour");
        write("bytes.bin", b"\xff\xfe");
        write("exact.txt", &vec![b'x'; 1 << 20]);
        write("large.txt", &vec![b'x'; (1 << 20) + 1]);
        let files: Vec<FileSpec> = files
            .as_array()
            .unwrap()
            .iter()
            .map(|file| FileSpec::deserialize(file).unwrap())
            .collect();
        with_files(&files, directory.path(), "the prompt")
    }

    #[test]
    fn lines_are_chosen_and_tail_beats_head_beats_range() {
        let file = |lines: Value| {
            let mut file = json!({"path": "abc.txt"});
            file.as_object_mut()
                .unwrap()
                .extend(lines.as_object().unwrap().clone());
            prompt(&json!([file]))
        };
        let expected = |content: &str| format!("=== abc.txt ===\n{content}\n\nthe prompt");
        assert_eq!(
            prompt(&json!(["abc.txt"])),
            expected("one\ntwo\nthree\nfour")
        );
        assert_eq!(file(json!({"start": 2, "end": 3})), expected("two\nthree"));
        assert_eq!(file(json!({"start": 3})), expected("three\nfour"));
        assert_eq!(file(json!({"start": 9})), expected(""));
        assert_eq!(file(json!({"start": 3, "end": 2})), expected(""));
        assert_eq!(file(json!({"head": 1, "start": 3})), expected("one"));
        assert_eq!(
            file(json!({"tail": "2", "head": 1})),
            expected("three\nfour")
        );
    }

    #[test]
    fn what_cannot_be_read_is_said_in_its_place() {
        assert_eq!(
            prompt(&json!(["missing.txt", ".", "bytes.bin", "large.txt"])),
            "=== missing.txt ===\n[file not found: missing.txt]\n\n\
             === . ===\n[could not read file: .]\n\n\
             === bytes.bin ===\n[could not read file: bytes.bin]\n\n\
             === large.txt ===\n[file too large: large.txt (1025KB, limit 1024KB)]\n\n\
             the prompt"
        );
        assert!(prompt(&json!(["exact.txt"])).len() > 1 << 20);
    }
}
