//! A name stands for one public type in the whole workspace, so that a reader who searches for it
//! finds one thing.

use std::collections::BTreeMap;

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

const KINDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| is_of_a_crate(file)) {
        for (number, line) in file.numbered_lines() {
            let Some(name) = public_type(line) else {
                continue;
            };
            let earlier = *first.entry(name).or_insert(&file.path);
            if earlier != file.path {
                let message = format!(
                    "{name} is also a public type of {earlier}: make them one type, or name each \
                     after what it is"
                );
                findings.push(Finding::at(&file.path, number, message));
            }
        }
    }
    findings
}

fn is_of_a_crate(file: &SourceFile) -> bool {
    file.path.starts_with("crates/")
        && file.path.contains("/src/")
        && !file.path.contains("/tests/")
        && file.has_extension(&["rs"])
}

/// Returns the name of the type that a line declares for other crates.
fn public_type(line: &str) -> Option<&str> {
    let declared = line.trim_start().strip_prefix("pub ")?;
    let (kind, rest) = declared.split_once(' ')?;
    if !KINDS.contains(&kind) {
        return None;
    }
    let is_of_a_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    rest.split(|letter| !is_of_a_name(letter)).next()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_second_public_type_of_a_name_is_found() {
        let planted = [
            (
                "crates/runs/src/counts.rs",
                "/// Runs.\npub struct Counts {\n",
            ),
            ("crates/view/src/counts.rs", "    pub enum Counts<'a> {\n"),
            (
                "crates/web/src/counts.rs",
                "pub(crate) struct Counts;\nstruct Counts;\npub fn Counts()",
            ),
            ("crates/web/tests/it.rs", "pub struct Counts;\n"),
            ("crates/web/src/counting.rs", "pub struct CountsOfAll;\n"),
        ];
        assert_eq!(
            found(check, &planted),
            [
                "crates/view/src/counts.rs:1: Counts is also a public type of crates/runs/src/counts.rs: make them one type, or name each after what it is"
            ]
        );
    }
}
