//! Figures of language for documents: a hint, never a limit.

use crate::source::{SourceFile, Tree};

/// The most of each figure in 1,000 words that a document should have.
const AIMS: [f64; 3] = [3.0, 3.0, 9.0];

/// Forms of "be" that come before a participle.
const BE: [&str; 7] = ["is", "are", "was", "were", "be", "been", "being"];

/// Words that may stand between them.
const BETWEEN: [&str; 7] = ["not", "never", "also", "only", "then", "still", "already"];

/// Participles without the ending "ed".
const IRREGULAR: [&str; 22] = [
    "begun", "built", "cut", "done", "found", "given", "held", "kept", "known", "left", "lost",
    "made", "put", "read", "seen", "sent", "set", "shown", "taken", "told", "thrown", "written",
];

/// The figures of one document.
#[derive(Debug, PartialEq)]
pub(crate) struct Figures {
    pub(crate) path: String,
    pub(crate) words: usize,
    /// "what", semicolons and passives in 1,000 words.
    pub(crate) rates: [f64; 3],
}

impl Figures {
    /// Returns whether a figure is above its aim.
    pub(crate) fn is_above(&self) -> bool {
        self.rates.iter().zip(AIMS).any(|(rate, aim)| *rate > aim)
    }
}

/// Returns the figures of all documents that people write for users.
pub(crate) fn figures(tree: &Tree) -> Vec<Figures> {
    let documents = tree.files.iter().filter(|file| is_counted(file));
    documents.map(of_document).collect()
}

fn is_counted(file: &SourceFile) -> bool {
    let generated = ["docs/cli.md", "docs/tools.md"];
    let of_docs = file.path.strip_prefix("docs/");
    let is_page = of_docs.is_some_and(|rest| file.has_extension(&["md"]) && !rest.contains('/'));
    let is_root = [
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "README.md",
        "SECURITY.md",
    ]
    .contains(&file.path.as_str());
    (is_page || is_root) && !generated.contains(&file.path.as_str())
}

fn of_document(file: &SourceFile) -> Figures {
    let prose = prose(&file.text);
    let words: Vec<String> = prose
        .split(|letter: char| !letter.is_alphabetic() && letter != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let what = words.iter().filter(|word| word.starts_with("what")).count();
    let counts = [what, prose.matches(';').count(), passives(&words)];
    Figures {
        path: file.path.clone(),
        words: words.len(),
        rates: counts.map(|count| per_thousand(count, words.len())),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
fn per_thousand(count: usize, words: usize) -> f64 {
    count as f64 * 1000.0 / words.max(1) as f64
}

/// Returns a document without code, comments and targets of links.
fn prose(text: &str) -> String {
    let mut prose = String::new();
    let mut is_code = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || line.starts_with("<!--") {
            continue;
        }
        let outside: Vec<&str> = line.split('`').step_by(2).collect();
        for (place, part) in outside.join(" … ").split("](").enumerate() {
            let rest = part.split_once(')').map_or("", |(_, rest)| rest);
            prose += if place == 0 { part } else { rest };
        }
        prose.push('\n');
    }
    prose
}

fn passives(words: &[String]) -> usize {
    let mut count = 0;
    for (at, word) in words.iter().enumerate() {
        if BE.contains(&word.as_str()) {
            let mut rest = words[at + 1..].iter();
            let next = rest.find(|word| !BETWEEN.contains(&word.as_str()) && !word.ends_with("ly"));
            count += usize::from(next.is_some_and(|word| is_participle(word)));
        }
    }
    count
}

fn is_participle(word: &str) -> bool {
    (word.ends_with("ed") && !["need", "red"].contains(&word)) || IRREGULAR.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_prose_are_counted_and_code_is_not() {
        let text = "It is never read; what `is; sent` [here](is_sent;x).\n```\nwhat; is sent\n```\n<!-- what -->\n";
        let tree = Tree::of(&[("docs/one.md", text), ("docs/design/two.md", "what")]);
        let found = figures(&tree);
        let [one] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!((one.words, one.rates), (6, [1000.0 / 6.0; 3]));
        assert!(one.is_above());
    }
}
