//! Packages are named, never where they come from: the next machine has another registry.

use xtask::source::Tree;

use crate::finding::Finding;

/// The one name that every `Cargo.lock` carries; cargo replaces it by the registry of the machine.
const USUAL: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Hosts of registries, and settings that choose one. Put together, because this file is
/// searched too.
const MARKS: [&str; 14] = [
    concat!("registry.npm", "js.org"),
    concat!("registry.yarn", "pkg.com"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("files.python", "hosted.org"),
    concat!("pypi", ".org/simple"),
    concat!("registry", "+http"),
    concat!("sparse", "+http"),
    concat!("\"resolved\": ", "\"http"),
    concat!("replace", "-with ="),
    concat!("[regis", "tries"),
    concat!("--regis", "try="),
    concat!("--index", "-url"),
    concat!("npm_config", "_registry"),
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        for (number, line) in file.numbered_lines() {
            let line = line.replace(USUAL, "");
            if let Some(mark) = MARKS.iter().find(|mark| line.contains(**mark)) {
                let message = format!(
                    "\"{mark}\" names a registry; name the package only, the machine knows where \
                     it comes from"
                );
                findings.push(Finding::at(&file.path, number, message));
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
    fn every_mark_of_a_registry_is_found() {
        for mark in MARKS {
            let text = format!("first\nsecond {mark}s://example\n");
            let found = found(check, &[("extension/package-lock.json", &text)]);
            assert_eq!(found.len(), 1, "{mark}");
            assert!(
                found[0].starts_with("extension/package-lock.json:2:"),
                "{found:?}"
            );
        }
    }

    #[test]
    fn the_usual_line_of_a_lock_is_fine() {
        let lock = format!("source = \"{USUAL}\"\n");
        assert_eq!(found(check, &[("Cargo.lock", &lock)]).len(), 0);
    }
}
