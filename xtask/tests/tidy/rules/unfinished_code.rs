//! Committed code is finished: it has no test that is left out, and no function that only promises.

use xtask::source::Tree;

use crate::finding::Finding;

/// The texts of unfinished code, with the advice for each. They are put together from parts,
/// because this file is searched too.
const MARKS: [(&str, &str); 3] = [
    (
        concat!("#[ig", "nore"),
        "make the test run everywhere, or remove it",
    ),
    (concat!("tod", "o!("), "write it, or remove what needs it"),
    (
        concat!("unimpl", "emented!("),
        "write it, or remove what needs it",
    ),
];

/// The beginning of a line that git writes for a conflict. A text that explains conflicts may have it
/// further on in a line.
const CONFLICT: &str = concat!("<<<<", "<<< ");

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree.files.iter().filter(|file| file.has_extension(&["rs"]));
    let mut findings = Vec::new();
    for file in sources {
        for (number, line) in file.numbered_lines() {
            if let Some((mark, advice)) = MARKS.iter().find(|(mark, _)| line.contains(mark)) {
                findings.push(Finding::at(&file.path, number, format!("{mark}: {advice}")));
            }
            if line.starts_with(CONFLICT) {
                findings.push(Finding::at(
                    &file.path,
                    number,
                    "finish the merge".to_owned(),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn every_mark_is_found() {
        for (mark, advice) in MARKS {
            let text = format!("fn a() {{\n    {mark})\n}}\n");
            assert_eq!(
                found(check, &[("crates/a/src/lib.rs", &text)]),
                [format!("crates/a/src/lib.rs:2: {mark}: {advice}")]
            );
        }
        let conflict = format!("{CONFLICT}HEAD\nlet marker = \"{CONFLICT}\";\n");
        assert_eq!(
            found(check, &[("a.rs", &conflict)]),
            ["a.rs:1: finish the merge"]
        );
        assert_eq!(
            found(check, &[("a.rs", "let todos = ignore(1);\n")]).len(),
            0
        );
    }
}
