//! Every crate comes from the registry that everybody uses, or from this repository.

use xtask::source::Tree;

use crate::finding::Finding;

const LOCK: &str = "Cargo.lock";

/// The registry whose address is the same on every machine.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let lines = tree.text(LOCK).unwrap_or_default().lines().zip(1..);
    let finding = |(line, number): (&str, usize)| {
        let source = line.strip_prefix("source = \"")?.trim_end_matches('"');
        let message = format!(
            "{source} is no source of ours: a crate comes from the default registry or from this \
             repository"
        );
        (source != REGISTRY).then(|| Finding::at(LOCK, number, message))
    };
    lines.filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_crate_from_anywhere_else_is_found() {
        let lock = format!(
            "[[package]]\nname = \"a\"\nsource = \"{REGISTRY}\"\n\n[[package]]\nname = \"b\"\nsource = \"git+https://example.invalid/b#1234\"\n"
        );
        assert_eq!(
            found(check, &[(LOCK, &lock)]),
            [
                "Cargo.lock:7: git+https://example.invalid/b#1234 is no source of ours: a crate comes from the default registry or from this repository"
            ]
        );
    }
}
