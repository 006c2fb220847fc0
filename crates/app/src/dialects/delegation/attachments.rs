//! Files that are put before a prompt.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use crate::dialects::fields::{CallError, Fields};

/// A larger file is not read.
const LARGEST_FILE: u64 = 1 << 20;

/// A file, and which of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileSpec {
    path: String,
    lines: Lines,
}

/// Lines are counted from 1, and ranges include their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    Range { start: usize, end: Option<usize> },
    Head(usize),
    Tail(usize),
}

const ALL: Lines = Lines::Range {
    start: 1,
    end: None,
};

impl FileSpec {
    /// Reads one entry of `files`: a path, or an object with a path and lines.
    pub(crate) fn parse(value: &Value, path: &str) -> Result<Self, CallError> {
        if let Value::String(file) = value {
            return Ok(Self {
                path: file.clone(),
                lines: ALL,
            });
        }
        let fields = Fields::of(value, path)?;
        let count = |field| -> Result<Option<usize>, CallError> {
            let number = fields.optional_number(field)?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is at least 1, and a cast from a float saturates"
            )]
            Ok(number.map(|number| number as usize))
        };
        let (head, tail) = (count("head")?, count("tail")?);
        let (start, end) = (count("start")?, count("end")?);
        Ok(Self {
            path: fields.text("path")?,
            lines: match (tail, head) {
                (Some(tail), _) => Lines::Tail(tail),
                (None, Some(head)) => Lines::Head(head),
                (None, None) => Lines::Range {
                    start: start.unwrap_or(1),
                    end,
                },
            },
        })
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
    format!("=== {} ===\n{content}{newline}\n", file.path)
}

fn read(file: &FileSpec, cwd: &Path) -> String {
    let path = cwd.join(&file.path);
    let metadata = match fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return format!("[file not found: {}]", file.path);
        }
        Err(_) => return could_not_read(file),
    };
    if !metadata.is_file() {
        return could_not_read(file);
    }
    if metadata.len() > LARGEST_FILE {
        return format!(
            "[file too large: {} ({}KB, limit 1024KB)]",
            file.path,
            metadata.len().div_ceil(1024)
        );
    }
    match fs::read_to_string(&path) {
        Ok(content) => file.lines.of(&content),
        Err(_) => could_not_read(file),
    }
}

fn could_not_read(file: &FileSpec) -> String {
    format!("[could not read file: {}]", file.path)
}

impl Lines {
    fn of(self, content: &str) -> String {
        let lines: Vec<&str> = content.split_inclusive('\n').collect();
        let chosen = match self {
            Self::Range { start, end } => {
                let end = end.unwrap_or(lines.len()).min(lines.len());
                lines.get(start - 1..end).unwrap_or_default()
            }
            Self::Head(count) => &lines[..count.min(lines.len())],
            Self::Tail(count) => &lines[lines.len().saturating_sub(count)..],
        };
        chosen.concat()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
            .map(|file| FileSpec::parse(file, "files[0]").unwrap())
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
