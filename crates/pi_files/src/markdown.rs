//! A markdown file: its text, its frontmatter and its body.

use std::fs;
use std::io;
use std::path::Path;

use pi_subagents_files::{FileRefusal, read_own};

use crate::problem::{Position, Problem};

/// The length of the longest frontmatter, in bytes.
const LONGEST_FRONTMATTER: usize = 1024 * 1024;

/// The length of the longest body, in bytes.
const LONGEST_BODY: usize = 16 * 1024 * 1024;

/// The length of the longest file, in bytes.
pub const LONGEST_FILE: u64 = (LONGEST_FRONTMATTER + LONGEST_BODY) as u64;

/// A line that begins or ends a frontmatter.
const FENCE: &str = "---";

/// The parts of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Markdown<'a> {
    /// The text between the fences; its first line is line 2 of the file.
    pub frontmatter: &'a str,
    /// The text after the closing fence.
    pub body: &'a str,
    /// The line the body begins at.
    pub body_line: usize,
}

/// Reads a regular file of bearable size.
pub fn read(file: &Path) -> Result<Vec<u8>, Problem> {
    read_own(file, LONGEST_FILE).map_err(|error| unreadable(file, &error))
}

/// Returns the problem of a file that could not be read.
pub fn unreadable(file: &Path, error: &io::Error) -> Problem {
    match FileRefusal::of(error) {
        Some(FileRefusal::TooLarge { .. }) => return Problem::new("is larger than 17 MB"),
        Some(_) => return Problem::new("is not a regular file"),
        None => {}
    }
    if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(file).is_ok() {
        return Problem::new("is a link that leads nowhere");
    }
    Problem::new(format!("cannot be read: {error}"))
}

/// Reads the bytes of a file as text.
pub fn text_of(bytes: &[u8]) -> Result<&str, Problem> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Problem::new("is UTF-16; save it as UTF-8"));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.split(|byte| *byte == b'\n').count();
        Problem::at(Position::line(line), "is not UTF-8")
    })
}

/// Splits a text; a fence is a line that is exactly `---`.
pub fn split(text: &str) -> Result<Markdown<'_>, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let opening = lines.next().unwrap_or_default();
    if !is_fence(opening) {
        return Err(Problem::at(
            Position::line(1),
            "does not begin with a line \"---\"",
        ));
    }
    let mut end = opening.len();
    for (index, line) in lines.enumerate() {
        let start = end;
        end += line.len();
        if is_fence(line) {
            return checked(Markdown {
                frontmatter: &text[opening.len()..start],
                body: &text[end..],
                body_line: index + 3,
            });
        }
    }
    Err(Problem::at(
        Position::line(1),
        "the frontmatter is not closed by a line \"---\"",
    ))
}

/// Returns whether a text begins as a file with a frontmatter does.
pub fn has_frontmatter(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.split_inclusive('\n').next().is_some_and(is_fence)
}

/// Returns the body without its frontmatter, for files that need not have one.
pub fn body_of(text: &str) -> &str {
    split(text).map_or_else(
        |_| text.strip_prefix('\u{feff}').unwrap_or(text),
        |markdown| markdown.body,
    )
}

fn is_fence(line: &str) -> bool {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line) == FENCE
}

fn checked(markdown: Markdown<'_>) -> Result<Markdown<'_>, Problem> {
    if markdown.frontmatter.len() > LONGEST_FRONTMATTER {
        return Err(Problem::at(
            Position::line(2),
            "the frontmatter is longer than 1 MB",
        ));
    }
    if markdown.body.len() > LONGEST_BODY {
        return Err(Problem::at(
            Position::line(markdown.body_line),
            "the body is longer than 16 MB",
        ));
    }
    Ok(markdown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, frontmatter: &str, body: &str, body_line: usize) {
        let expected = Markdown {
            frontmatter,
            body,
            body_line,
        };
        assert_eq!(split(text).unwrap(), expected);
    }

    #[test]
    fn only_a_line_of_three_dashes_is_a_fence() {
        check("---\na: 1\n---\nbody", "a: 1\n", "body", 4);
        check("\u{feff}---\r\na: 1\r\n---\r\nb", "a: 1\r\n", "b", 4);
        check("---\n---", "", "", 3);
        check(
            "---\n----\n --- \n--- x\n---\n---\n",
            "----\n --- \n--- x\n",
            "---\n",
            6,
        );
        for broken in ["", "a: 1", " ---\n---\n", "---x\n---\n"] {
            assert!(split(broken).is_err(), "{broken:?}");
        }
    }

    #[test]
    fn a_body_is_found_with_and_without_a_frontmatter() {
        assert_eq!(body_of("---\nname: x\n---\ntext"), "text");
        assert_eq!(body_of("\u{feff}text"), "text");
    }
}
