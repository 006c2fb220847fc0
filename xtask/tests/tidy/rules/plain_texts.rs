//! Texts of the program have the word that a reader would search for, as documents for users have.

use xtask::source::{SourceFile, Tree};

use super::plain_words::{WORDS, has_word, without_exceptions};
use crate::finding::Finding;

/// Words in lines that no user reads: reasons of attributes, records of the debug log, and messages to
/// the next developer.
const FOR_DEVELOPERS: [&str; 8] = [
    "reason =", "trace!(", "debug!(", "info!(", "warn!(", "error!(", "expect(", "=> debug",
];

/// Folders of processes that people do not start, and the words of the log.
const PLACES_OF_THE_HOUSE: [&str; 4] = [
    "crates/engine/src/keeper/",
    "crates/engine/src/warden.rs",
    "crates/cli/src/commands/keeper.rs",
    "crates/confine/",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| has_texts(file)) {
        let lines = file.numbered_lines();
        let product = lines.take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
        for (number, line) in product.filter(|(_, line)| is_for_users(line)) {
            let text = without_exceptions(&texts_of(line).to_lowercase());
            for (word, instead) in WORDS {
                if has_word(&text, word) {
                    let message = format!("\"{word}\" is a word of the house; write: {instead}");
                    findings.push(Finding::at(&file.path, number, message));
                }
            }
        }
    }
    findings
}

fn has_texts(file: &SourceFile) -> bool {
    let is_product = file.path.starts_with("crates/") && file.path.contains("/src/");
    let is_test = file.path.contains("test") || file.path.ends_with("/log.rs");
    let is_of_house = PLACES_OF_THE_HOUSE
        .iter()
        .any(|place| file.path.starts_with(place));
    is_product && !is_test && !is_of_house && file.has_extension(&["rs"])
}

fn is_for_users(line: &str) -> bool {
    let is_comment = line.trim_start().starts_with("//");
    !is_comment && !FOR_DEVELOPERS.iter().any(|mark| line.contains(mark))
}

/// Returns the texts in quotes of a line that have several words, without their places for values.
fn texts_of(line: &str) -> String {
    let line = line.replace("\\\"", "'");
    let texts = line.split('"').skip(1).step_by(2);
    let sentences: Vec<&str> = texts.filter(|text| text.contains(' ')).collect();
    let mut text = String::new();
    for (place, part) in sentences.join(" … ").split('{').enumerate() {
        let rest = part.split_once('}').map_or("", |(_, rest)| rest);
        text += if place == 0 { part } else { rest };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_word_of_the_house_is_found_in_texts_alone() {
        let source = "// It goes on.\nfn goes_on() -> &str {\n    debug!(\"it goes on\");\n    \
                      \"there is no door\"\n}\nconst A: &str = \"it {goes on} and is \\\"over\\\"\";\n\
                      const B: &str = \"mend\";\nconst C: &str = \"mend it\";\n#[cfg(test)]\n\
                      const D: &str = \"mend it\";\n";
        let files = [
            ("crates/one/src/text.rs", source),
            ("crates/one/tests/it.rs", source),
        ];
        assert_eq!(
            found(check, &files),
            [
                "crates/one/src/text.rs:4: \"door\" is a word of the house; write: interface",
                "crates/one/src/text.rs:8: \"mend\" is a word of the house; write: fix",
            ]
        );
    }
}
