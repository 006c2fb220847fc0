//! Every crate has a heading that names its purpose.

use xtask::source::Tree;

use crate::finding::Finding;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree
        .files
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml") && file.text.contains("[package]\n"));
    manifests
        .filter_map(|manifest| {
            let directory = manifest.path.trim_end_matches("Cargo.toml");
            let roots = ["src/lib.rs", "src/main.rs"].map(|root| format!("{directory}{root}"));
            let Some((root, text)) = roots.iter().find_map(|root| Some((root, tree.text(root)?)))
            else {
                return Some(Finding::of_file(
                    &manifest.path,
                    "has no src/lib.rs or src/main.rs",
                ));
            };
            let message = "a crate begins with //! # and a heading that says what it is";
            (!text.starts_with("//! # ")).then(|| Finding::at(root, 1, message))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const MANIFEST: (&str, &str) = ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n");

    #[test]
    fn a_crate_without_a_heading_is_found() {
        let check_root = |text: &str| found(check, &[MANIFEST, ("crates/a/src/lib.rs", text)]);
        assert_eq!(check_root("//! # The engine\n").len(), 0);
        assert_eq!(
            check_root("//! The engine\n"),
            ["crates/a/src/lib.rs:1: a crate begins with //! # and a heading that says what it is"]
        );
        assert_eq!(check_root("mod a;\n//! # Late\n").len(), 1);
        assert_eq!(found(check, &[MANIFEST]).len(), 1);
    }
}
