//! Generated documents are the same as if they were generated now.

use xtask::documents::Document;
use xtask::source::Tree;

use crate::finding::Finding;

pub(crate) fn check(tree: &Tree, documents: &[Document]) -> Vec<Finding> {
    documents
        .iter()
        .filter_map(|document| match tree.text(&document.path) {
            Some(text) if text == document.content => None,
            Some(text) => {
                let line = first_difference(text, &document.content);
                let message = "is out of date; run cargo xtask docs";
                Some(Finding::at(&document.path, line, message))
            }
            None => Some(Finding::of_file(
                &document.path,
                "is missing; run cargo xtask docs",
            )),
        })
        .collect()
}

fn first_difference(one: &str, other: &str) -> usize {
    let same = one
        .lines()
        .zip(other.lines())
        .take_while(|(one, other)| one == other);
    same.count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_against(files: &[(&str, &str)]) -> Vec<String> {
        let document = Document {
            path: "docs/cli.md".to_owned(),
            content: "# Commands\n\nnew\n".to_owned(),
        };
        let findings = check(&Tree::of(files), &[document]);
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_old_or_missing_document_is_found() {
        assert_eq!(
            check_against(&[("docs/cli.md", "# Commands\n\nnew\n")]).len(),
            0
        );
        assert_eq!(
            check_against(&[("docs/cli.md", "# Commands\n\nold\n")]),
            ["docs/cli.md:3: is out of date; run cargo xtask docs"]
        );
        assert_eq!(
            check_against(&[]),
            ["docs/cli.md: is missing; run cargo xtask docs"]
        );
    }
}
