//! No line ends with white space, and code is indented by spaces.

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

/// Text that people write; snapshots show screens, whose lines may end with spaces.
const WRITTEN: [&str; 12] = [
    "css", "html", "js", "json", "md", "mjs", "py", "rs", "sh", "toml", "ts", "txt",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let written = |file: &&SourceFile| {
        (file.has_extension(&WRITTEN) && !is_test_case(file)) || file.path == ".ci/run"
    };
    tree.files
        .iter()
        .filter(written)
        .flat_map(check_file)
        .collect()
}

/// Returns whether a file is input of a test, which may be as odd as it likes.
fn is_test_case(file: &SourceFile) -> bool {
    file.path.contains("/tests/") && !file.has_extension(&["rs"])
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut end_of_snapshot: Option<String> = None;
    for (number, line) in file.numbered_lines() {
        if let Some(end) = &end_of_snapshot {
            if line.trim_start().starts_with(end.as_str()) {
                end_of_snapshot = None;
            }
            continue;
        }
        end_of_snapshot = inline_snapshot(line);
        if line.ends_with([' ', '\t', '\r']) {
            let message = "the line ends with white space; remove it";
            findings.push(Finding::at(&file.path, number, message));
        } else if line.contains('\t') && file.has_extension(&["rs", "toml"]) {
            let message = "a tab; indent by spaces, and write \\t in a string";
            findings.push(Finding::at(&file.path, number, message));
        }
    }
    findings
}

/// Returns the text that closes the inline snapshot which this line opens: a string after an `@`,
/// raw or not.
fn inline_snapshot(line: &str) -> Option<String> {
    let (before, literal) = line.rsplit_once('@')?;
    let hashes = literal
        .strip_prefix('r')
        .unwrap_or(literal)
        .strip_suffix('"')?;
    let is_literal = hashes.chars().all(|character| character == '#');
    (is_literal && !before.trim_start().starts_with("//")).then(|| format!("\"{hashes}"))
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn trailing_white_space_and_tabs_are_found() {
        let text = "fine\nspace \ntab\t\n\tindented\ncarriage\r\n";
        let places: Vec<String> = found(check, &[("a.rs", text)])
            .iter()
            .filter_map(|finding| finding.split(": ").next().map(str::to_owned))
            .collect();
        assert_eq!(places, ["a.rs:2", "a.rs:3", "a.rs:4", "a.rs:5"]);
        assert_eq!(found(check, &[("a.ts", "\tindented\n")]).len(), 0);
        assert_eq!(found(check, &[("a.snap", "screen \n")]).len(), 0);
        assert_eq!(
            found(check, &[("a/tests/cases/odd.md", "odd \r\n")]).len(),
            0
        );
        assert_eq!(found(check, &[("a/tests/it/main.rs", "odd \n")]).len(), 1);
    }

    #[test]
    fn an_inline_snapshot_shows_what_was_printed() {
        for (opens, closes) in [("@r#\"", "\"#"), ("@r\"", "\""), ("@\"", "\"")] {
            let text = format!("check({opens}\n    screen \n    {closes});\nafter \n");
            let places = found(check, &[("a.rs", &text)]);
            assert_eq!(places.len(), 1, "{places:?}");
            assert!(places[0].starts_with("a.rs:4"), "{places:?}");
        }
    }
}
