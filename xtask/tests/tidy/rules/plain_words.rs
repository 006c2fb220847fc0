//! Documents for users have the word that a reader would search for, not a word of the house.

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

/// Words and phrases with the words to write instead.
pub(super) const WORDS: [(&str, &str); 35] = [
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("under way", "running"),
    ("is over", "has finished"),
    ("are over", "have finished"),
    ("of its own", "its own, or separate"),
    ("of their own", "their own, or separate"),
    ("for ever", "forever"),
    ("goes on", "continues"),
    ("go on", "continue"),
    ("is told", "gets, or sees"),
    ("are told", "get, or see"),
    ("so many", "the number"),
    ("is no", "is not a"),
    ("door", "interface"),
    ("doors", "interfaces"),
    ("keeper", "supervisor"),
    ("keepers", "supervisors"),
    ("warden", "watchdog"),
    ("sweeper", "cleanup process"),
    ("dialect", "format"),
    ("dialects", "formats"),
    ("sticky", "shared"),
    ("misfit", "schema error"),
    ("stands in", "is in"),
    ("stand in", "are in"),
    ("travels", "is sent"),
    ("travel", "are sent"),
    ("beginning of an id", "first characters of an id"),
    ("beginnings of ids", "first characters of ids"),
    ("notice of the desktop", "desktop notification"),
    ("inside of", "inside"),
    ("vanishes", "disappears"),
    ("at work", "running"),
];

/// Sentences of the program may be quoted, and names of other things may hold such a word.
const EXCEPTIONS: [&str; 4] = [
    "sticky sessions",
    "sticky package",
    "there is no",
    "is no longer",
];

/// The page of the help of all commands: what is code there is a text of ours.
const HELP: &str = "docs/cli.md";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in tree.files.iter().filter(|file| is_for_users(file)) {
        let mut is_code = false;
        for (number, line) in document.numbered_lines() {
            is_code ^= line.trim_start().starts_with("```");
            if is_code && document.path != HELP {
                continue;
            }
            let text = prose(line);
            for (word, instead) in WORDS {
                if has_word(&text, word) {
                    let message = format!("\"{word}\" is a word of the house; write: {instead}");
                    findings.push(Finding::at(&document.path, number, message));
                }
            }
        }
    }
    findings
}

fn is_for_users(file: &SourceFile) -> bool {
    let of_docs = file.path.strip_prefix("docs/");
    let is_page = of_docs.is_some_and(|rest| file.has_extension(&["md"]) && !rest.contains('/'));
    is_page || ["README.md", "CHANGELOG.md"].contains(&file.path.as_str())
}

/// Returns a line in lower case without code, targets of links and exceptions.
fn prose(line: &str) -> String {
    let outside_code: Vec<&str> = line.split('`').step_by(2).collect();
    let mut text = String::new();
    for (place, part) in outside_code.join("…").split("](").enumerate() {
        let rest = part.split_once(')').map_or("", |(_, rest)| rest);
        text += if place == 0 { part } else { rest };
    }
    without_exceptions(&text.to_lowercase())
}

/// Returns a text in lower case without the phrases that may hold such a word.
pub(super) fn without_exceptions(text: &str) -> String {
    let mut text = text.to_owned();
    for exception in EXCEPTIONS {
        text = text.replace(exception, "…");
    }
    text
}

pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let is_border = |letter: Option<char>| {
            letter.is_none_or(|letter| !letter.is_alphanumeric() && letter != '-')
        };
        is_border(before) && is_border(after)
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_word_of_the_house_is_found_in_prose_alone() {
        let page = "Mend the file. It goes on. `mend` [x](mend.md) recommended.\n\
                    ```\nmend\n```\nNo sticky sessions.\n";
        let files = [("docs/one.md", page), ("docs/design/two.md", "mend\n")];
        assert_eq!(
            found(check, &files),
            [
                "docs/one.md:1: \"mend\" is a word of the house; write: fix",
                "docs/one.md:1: \"goes on\" is a word of the house; write: continues",
            ]
        );
    }
}
