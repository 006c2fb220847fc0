//! JSON as people write it: where a file stops being JSON and why, in plain words.

mod place;
mod relaxed_json;

pub use place::{Step, position_of};

use serde_json::Value;
use serde_json::error::Category;

use crate::problem::{Position, Problem};

/// Parses strict JSON, as pi reads its settings. A byte order mark at the beginning is skipped.
pub fn parse(text: &str) -> Result<Value, Problem> {
    let text = without_mark(text);
    serde_json::from_str(text).map_err(|error| explain(text, &error))
}

/// Parses JSON with comments and commas at the end of lists, as pi reads `models.json`.
pub fn parse_relaxed(text: &str) -> Result<Value, Problem> {
    parse(&relaxed_json::strict(text))
}

/// Returns the position of a key or an item in a text that [`parse_relaxed`] accepts.
pub fn position_of_relaxed(text: &str, path: &[Step<'_>]) -> Option<Position> {
    position_of(&relaxed_json::strict(text), path)
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Explains the fault in plain words, with its position.
fn explain(text: &str, error: &serde_json::Error) -> Problem {
    let said = error.to_string();
    let said = said.split(" at line ").next().unwrap_or_default();
    let at = offset(text, error.line(), error.column());
    let found = text[at..].chars().next();
    let (at, message) = match (error.classify(), said, found) {
        _ if text.trim().is_empty() => (0, "the file is empty; write {} or remove it"),
        (Category::Eof, ..) => (
            text.trim_end()
                .char_indices()
                .next_back()
                .map_or(0, |(at, _)| at),
            "the file ends before its last bracket or quote is closed",
        ),
        (_, "trailing comma", _) => (
            text[..at].rfind(',').unwrap_or(at),
            "there is a comma with nothing after it",
        ),
        (_, _, Some('/' | '#')) => (at, "comments are not allowed in this file"),
        (_, _, Some('\'')) => (at, "text is written in double quotes, not in single ones"),
        (_, "key must be a string", _) => (at, "a key is written in double quotes"),
        (_, "expected `,` or `}`" | "expected `,` or `]`", _) => {
            (at, "a comma is missing before this")
        }
        (_, "expected `:`", _) => (at, "a colon is missing before this"),
        (_, "expected value", _) => (at, "a value is missing here"),
        (_, "expected ident", _) => (at, "this is not a value; text is written in double quotes"),
        (_, "trailing characters", _) => (at, "there is more after the end of the value"),
        (_, said, _) => (at, said),
    };
    Problem::at(place::position(text, at), message)
}

/// Returns the byte that a line and a column of serde name; columns count bytes from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start: usize = before.map(str::len).sum();
    let mut at = (start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn wrong(text: &str) -> String {
        let problem = parse(text).unwrap_err();
        let Position { line, column } = problem.position.unwrap();
        format!("{line}:{column} {}", problem.message)
    }

    #[test]
    fn a_slip_is_named_where_it_stands() {
        let told = [
            "{\n  \"a\": {\n    \"b\": 1,\n  }\n}",
            "{\"a\": [1,\n]}",
            "{ // note\n}",
            "{\n# note\n}",
            "{'a': 1}",
            "{a: 1}",
            "{\"a\": 1\n \"b\": 2}",
            "[1 2]",
            "{\"a\" 1}",
            "{\"ä\": }",
            "{\"a\": nul}",
            "{} {}",
            "{\"a\": {\n",
            "{\"a\": \"é",
            " \n",
        ]
        .map(wrong);
        assert_eq!(
            told,
            [
                "3:11 there is a comma with nothing after it",
                "1:9 there is a comma with nothing after it",
                "1:3 comments are not allowed in this file",
                "2:1 comments are not allowed in this file",
                "1:2 text is written in double quotes, not in single ones",
                "1:2 a key is written in double quotes",
                "2:2 a comma is missing before this",
                "1:4 a comma is missing before this",
                "1:6 a colon is missing before this",
                "1:7 a value is missing here",
                "1:10 this is not a value; text is written in double quotes",
                "1:4 there is more after the end of the value",
                "1:7 the file ends before its last bracket or quote is closed",
                "1:8 the file ends before its last bracket or quote is closed",
                "1:1 the file is empty; write {} or remove it",
            ]
        );
    }

    #[test]
    fn comments_commas_and_a_mark_are_passed_over_where_pi_does() {
        let text = "\u{feff}// first\n{\"url\": \"http://x/*y*/,]\", /* two\nlines */ \"q\": [\"\\\"//\", ],\n}";
        assert_eq!(
            parse_relaxed(text).unwrap(),
            json!({"url": "http://x/*y*/,]", "q": ["\"//"]})
        );
        let path = [Step::Key("q"), Step::Index(0)];
        let found = position_of_relaxed(text, &path).unwrap();
        assert_eq!((found.line, found.column), (3, 16));
    }
}
