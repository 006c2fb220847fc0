//! Every picture that a document shows is there, and every picture is shown and made by a test.

use xtask::source::Tree;

use crate::finding::Finding;

/// The directory of the pictures.
const FOLDER: &str = "docs/pictures/";

/// The tests that make the pictures from real screens and compare them.
const TESTS: &str = "crates/app/tests/it/pictures/";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut shown = Vec::new();
    for document in tree.files.iter().filter(|file| file.has_extension(&["md"])) {
        for (number, line) in document.numbered_lines() {
            for picture in pictures(line) {
                let path = from_root(&document.path, picture);
                if tree.text(&path).is_none() {
                    let message = format!("shows {picture}, which is not there");
                    findings.push(Finding::at(&document.path, number, message));
                }
                shown.push(path);
            }
        }
    }
    let made: String = tree
        .files
        .iter()
        .filter(|file| file.path.starts_with(TESTS))
        .map(|file| file.text.as_str())
        .collect();
    for file in &tree.files {
        let Some(name) = file.path.strip_prefix(FOLDER) else {
            continue;
        };
        if !shown.contains(&file.path) {
            let message = "is shown in no document; remove it or show it";
            findings.push(Finding::of_file(&file.path, message));
        }
        let stem = name.split('.').next().unwrap_or(name);
        if !made.contains(&format!("\"{stem}\"")) {
            let message = format!("is made by no test in {TESTS}");
            findings.push(Finding::of_file(&file.path, message));
        }
    }
    findings
}

/// Returns the files that a line shows as pictures, in Markdown or in HTML.
fn pictures(line: &str) -> impl Iterator<Item = &str> {
    let markdown = line.split("![").skip(1).filter_map(|rest| {
        let (_, rest) = rest.split_once("](")?;
        rest.split([')', ' ']).next()
    });
    let html = line.split("<img").skip(1).filter_map(|rest| {
        let (_, rest) = rest.split_once("src=\"")?;
        rest.split('"').next()
    });
    markdown.chain(html).filter(|path| !path.contains("://"))
}

/// Returns the path of a file that a document names, from the root of the workspace.
fn from_root(document: &str, named: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in named.split('/') {
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_missing_picture_is_found_and_so_is_one_that_nothing_shows_or_makes() {
        let files = [
            (
                "README.md",
                "![a tour](docs/pictures/tour.svg)\n<img alt=\"x\" src=\"docs/pictures/gone.svg\">\n",
            ),
            (
                "docs/other.md",
                "![up](../docs/pictures/tour.svg) ![](https://x.test/y.png)\n",
            ),
            ("docs/pictures/tour.svg", "<svg/>"),
            ("docs/pictures/lost.svg", "<svg/>"),
            (
                "crates/app/tests/it/pictures/mod.rs",
                "check(\"tour\", &terminal);\n",
            ),
        ];
        assert_eq!(
            found(check, &files),
            [
                "README.md:2: shows docs/pictures/gone.svg, which is not there",
                "docs/pictures/lost.svg: is shown in no document; remove it or show it",
                "docs/pictures/lost.svg: is made by no test in crates/app/tests/it/pictures/",
            ]
        );
    }
}
