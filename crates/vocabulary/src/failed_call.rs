//! Says why a tool call failed, in so few words that they fit behind the call.

use std::fmt;

use crate::text;
use crate::{Part, ToolResult};

/// The number of characters of an error that are shown.
const LONGEST_REASON: usize = 200;

/// The number of bytes that are read at either end of a result.
const READ_OF_RESULT: usize = 4 << 10;

/// The reason why a tool call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallFailure {
    /// The child does not have the tool.
    NoSuchTool,
    /// The tool gave this reason, in one line.
    Said(String),
}

impl ToolResult {
    /// Returns why the call failed, or `None` if it did not.
    pub fn failure(&self) -> Option<CallFailure> {
        self.is_error.then(|| why(&self.tool, &self.parts))
    }
}

impl fmt::Display for CallFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoSuchTool => "the sub-agent has no such tool",
            Self::Said(words) => words,
        })
    }
}

fn why(tool: &str, parts: &[Part]) -> CallFailure {
    let texts = || {
        parts.iter().filter_map(|part| match part {
            Part::Text(words) if !words.trim().is_empty() => Some(words.trim()),
            _ => None,
        })
    };
    let Some((first, last)) = texts().next().zip(texts().next_back()) else {
        return CallFailure::Said("failed".to_owned());
    };
    if first
        .strip_prefix("Tool ")
        .and_then(|rest| rest.strip_suffix(" not found"))
        == Some(tool)
    {
        return CallFailure::NoSuchTool;
    }
    let beginning = text::clean(&first[..first.floor_char_boundary(READ_OF_RESULT)]);
    let end = &last[last.ceil_char_boundary(last.len().saturating_sub(READ_OF_RESULT))..];
    let said = of_shell(end)
        .or_else(|| of_edit(&beginning))
        .unwrap_or_else(|| first_sentence(&beginning));
    CallFailure::Said(said)
}

/// Reads the line that a shell command's result ends with.
fn of_shell(end: &str) -> Option<String> {
    let last = text::clean(end.lines().next_back()?);
    if let Some(code) = last.strip_prefix("Command exited with code ") {
        return Some(format!("exit {code}"));
    }
    let limit = last.strip_prefix("Command timed out after ");
    if let Some(seconds) = limit.and_then(|rest| rest.strip_suffix(" seconds")) {
        return Some(format!("timed out after {seconds}s"));
    }
    (last == "Command aborted").then(|| "aborted".to_owned())
}

/// Reads the error of an edit whose text was not found exactly once.
fn of_edit(text: &str) -> Option<String> {
    if text.starts_with("Could not find the exact text in ")
        || text.starts_with("Could not find edits[")
    {
        return Some("text not found".to_owned());
    }
    let (times, _) = text
        .strip_prefix("Found ")?
        .split_once(" occurrences of ")?;
    Some(format!("text found {times} times"))
}

fn first_sentence(text: &str) -> String {
    let line = text::one_line(text.lines().next().unwrap_or_default());
    let sentence = line
        .split_once(". ")
        .map_or(line.as_str(), |(first, _)| first);
    text::cut_characters(sentence.trim_end_matches('.'), LONGEST_REASON)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message_of(tool: &str, text: &str) -> String {
        let result = ToolResult {
            tool: tool.to_owned(),
            parts: vec![Part::Text(text.to_owned())],
            is_error: true,
            ..ToolResult::default()
        };
        result.failure().unwrap().to_string()
    }

    #[test]
    fn what_both_kinds_of_child_say_is_told_in_few_words() {
        for (tool, text, expected) in [
            (
                "bash",
                "running 3 tests\nfailed\n\n\nCommand exited with code 3",
                "exit 3",
            ),
            (
                "bash",
                "Command timed out after 1 seconds",
                "timed out after 1s",
            ),
            ("bash", "half\n\nCommand aborted", "aborted"),
            (
                "edit",
                "Could not find the exact text in a.md. The old text must match exactly including all whitespace and newlines.",
                "text not found",
            ),
            (
                "edit",
                "Could not find edits[1] in a.md. The oldText must match exactly.",
                "text not found",
            ),
            (
                "edit",
                "Found 3 occurrences of the text in a.md. The text must be unique.",
                "text found 3 times",
            ),
            (
                "read",
                "ENOENT: no such file or directory, access '/x/y.md'",
                "ENOENT: no such file or directory, access '/x/y.md'",
            ),
            (
                "deploy",
                "Tool deploy not found",
                "the sub-agent has no such tool",
            ),
            ("read", "Tool deploy not found", "Tool deploy not found"),
            ("read", "\u{1b}[31mred\u{1b}[0m\nmore", "red"),
            ("read", "  \n", "failed"),
        ] {
            assert_eq!(message_of(tool, text), expected, "{text}");
        }
    }

    #[test]
    fn a_call_that_did_not_fail_has_no_failure_and_a_long_error_is_cut() {
        assert_eq!(ToolResult::default().failure(), None);
        assert_eq!(
            message_of("read", &"x".repeat(1 << 20)).len(),
            LONGEST_REASON + 3
        );
    }
}
