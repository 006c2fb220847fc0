//! The prompt with which a result goes back to its sub-agent: comments on lines, and a word about the
//! whole.

use std::fmt::Write as _;

use crate::text::{clean, cut_characters, one_line};

/// At most so many comments are sent.
const MOST_COMMENTS: usize = 64;

/// At most so many characters of a quoted line are sent.
const LONGEST_LINE: usize = 200;

/// At most so many bytes are sent.
const LONGEST: usize = 32 * 1024;

/// A comment of a person on a line of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineComment {
    /// The file.
    pub path: String,
    /// The number of the line in the file as the result has it; `None` for a line that is gone.
    pub line: Option<u64>,
    /// The text of the line.
    pub quoted: String,
    /// The words of the person.
    pub words: String,
}

/// What a person sends back with a result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentBack {
    /// The name of its task.
    pub name: String,
    /// The comments on lines.
    pub comments: Vec<LineComment>,
    /// The word about the whole; empty if there is none.
    pub note: String,
}

impl SentBack {
    /// Returns whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.comments.is_empty() && self.note.trim().is_empty()
    }

    /// Writes the prompt. Empty parts are left out.
    pub fn prompt(&self) -> String {
        let name = one_line(&clean(&self.name));
        let mut text = format!("Your work \"{name}\" was looked at and not taken as it is.\n");
        let shown = self.comments.iter().take(MOST_COMMENTS);
        let has_note = !self.note.trim().is_empty();
        let all = shown.len() + usize::from(has_note);
        if all > 0 {
            _ = write!(
                text,
                "\nComments ({all}); lines are those of your files now:\n"
            );
        }
        for (number, comment) in shown.enumerate() {
            let path = one_line(&clean(&comment.path));
            let place = match comment.line {
                Some(line) => format!("{path}:{line}"),
                None => format!("{path} (a line that you took out)"),
            };
            let quoted = cut_characters(&clean(&comment.quoted), LONGEST_LINE);
            let words = indented(&comment.words);
            _ = write!(text, "{}. {place}\n   | {quoted}\n{words}", number + 1);
        }
        if has_note {
            _ = write!(text, "{all}. whole result\n{}", indented(&self.note));
        }
        if all > 0 {
            text += "\nAnswer each number: what you changed, or why not.\n";
        }
        text.truncate(text.floor_char_boundary(LONGEST));
        text
    }
}

fn indented(words: &str) -> String {
    let lines = clean(words.trim());
    let lines = lines.lines().flat_map(|line| ["   ", line, "\n"]);
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_a_note_become_a_numbered_prompt() {
        let sent = SentBack {
            name: "ui".to_owned(),
            comments: vec![
                LineComment {
                    path: "src/app.rs".to_owned(),
                    line: Some(42),
                    quoted: "let theme = Theme::load()?;".to_owned(),
                    words: "Use the cached one.".to_owned(),
                },
                LineComment {
                    path: "src/app.rs".to_owned(),
                    line: None,
                    quoted: "old();".to_owned(),
                    words: "Why?\nKeep it.".to_owned(),
                },
            ],
            note: "Split the parser, please.".to_owned(),
        };
        insta::assert_snapshot!(sent.prompt(), @r#"
        Your work "ui" was looked at and not taken as it is.

        Comments (3); lines are those of your files now:
        1. src/app.rs:42
           | let theme = Theme::load()?;
           Use the cached one.
        2. src/app.rs (a line that you took out)
           | old();
           Why?
           Keep it.
        3. whole result
           Split the parser, please.

        Answer each number: what you changed, or why not.
        "#);
        let long = SentBack {
            note: "ä".repeat(LONGEST),
            ..SentBack::default()
        };
        assert!(long.prompt().len() <= LONGEST);
    }
}
