//! Every test that the page of promises names is there.

use std::collections::BTreeSet;

use xtask::source::Tree;

use crate::finding::Finding;

/// The page that says which test holds which finding.
const PAGE: &str = "docs/design/promises.md";

/// A quoted word with fewer of these is a command or a field, and no test.
const FEWEST_UNDERSCORES: usize = 3;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let functions = functions(tree);
    let mut findings = Vec::new();
    for document in tree.files.iter().filter(|file| file.path == PAGE) {
        for (number, line) in document.numbered_lines() {
            let quoted = line.split('`').skip(1).step_by(2);
            for name in quoted.filter(|word| is_test(word)) {
                if !functions.contains(name) {
                    let message = format!(
                        "names the test `{name}`, which is not there; name the test that holds it now"
                    );
                    findings.push(Finding::at(PAGE, number, message));
                }
            }
        }
    }
    findings
}

fn is_test(word: &str) -> bool {
    let is_name = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    word.chars().all(is_name) && word.matches('_').count() >= FEWEST_UNDERSCORES
}

/// Returns the names of all functions. A test for both pis has no attribute of its own.
fn functions(tree: &Tree) -> BTreeSet<&str> {
    let sources = tree.files.iter().filter(|file| file.has_extension(&["rs"]));
    let lines = sources.flat_map(|file| file.text.lines());
    let names = lines.filter_map(|line| {
        let (_, rest) = line.split_once("fn ")?;
        rest.split_once('(').map(|(name, _)| name)
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::found;

    #[test]
    fn a_test_that_is_gone_is_found() {
        let page = "| A1 | `a_test_that_is_there`, `a_test_that_is_gone`, `max_cost` |\n";
        let source = "#[test]\nfn a_test_that_is_there() {}\n";
        let files = [(PAGE, page), ("crates/app/tests/it/one.rs", source)];
        let expected = "docs/design/promises.md:1: names the test `a_test_that_is_gone`, which is not \
                        there; name the test that holds it now";
        assert_eq!(found(check, &files), [expected]);
    }
}
