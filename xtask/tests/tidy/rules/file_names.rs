//! A file is named after its content.

use xtask::source::Tree;

use crate::finding::Finding;

/// Words without a meaning of their own: under them, everything ends up in one file.
const SAY_NOTHING: [&str; 9] = [
    "common", "helper", "helpers", "manager", "managers", "misc", "stuff", "util", "utils",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree
        .files
        .iter()
        .filter(|file| file.has_extension(&["rs", "ts", "js", "mjs", "py", "sh"]));
    sources
        .filter_map(|file| {
            let mut words = file.path.split(['/', '.', '_', '-']);
            let word = words.find(|word| SAY_NOTHING.contains(word))?;
            let message = format!("\"{word}\" says nothing; name it after what it holds");
            Some(Finding::of_file(&file.path, message))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn names_that_say_nothing_are_found() {
        let files = [
            ("crates/engine/src/utils.rs", ""),
            ("crates/engine/src/string_helpers.rs", ""),
            ("crates/common/src/lib.rs", ""),
            ("extension/session-manager.ts", ""),
            ("crates/engine/src/utilization.rs", ""),
            ("docs/common.md", ""),
        ];
        let found = found(check, &files);
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(
            found[0],
            "crates/engine/src/utils.rs: \"utils\" says nothing; name it after what it holds"
        );
    }
}
