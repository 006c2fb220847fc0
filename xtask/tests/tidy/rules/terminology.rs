//! The words of `docs/design/vocabulary.md` are those of the code: each row names the type or module that
//! carries its word, and that name occurs in the sources.

use std::collections::BTreeSet;

use xtask::source::Tree;

use crate::finding::Finding;

const PAGE: &str = "docs/design/vocabulary.md";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.text(PAGE) else {
        return Vec::new();
    };
    let names = names_in_sources(tree);
    let mut words = BTreeSet::new();
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(page.lines()) {
        let Some((word, name)) = row(line) else {
            continue;
        };
        if !words.insert(word) {
            let message = format!("\"{word}\" has a row already; a word has one meaning");
            findings.push(Finding::at(PAGE, number, message));
        }
        if !names.contains(name) {
            let message = format!("no source has the name `{name}`; name what \"{word}\" is now");
            findings.push(Finding::at(PAGE, number, message));
        }
    }
    findings
}

/// Returns the word of a row and the name in its last column: ``| **run** | … | `RunId` |``.
fn row(line: &str) -> Option<(&str, &str)> {
    let (word, rest) = line.strip_prefix("| **")?.split_once("** |")?;
    let (_, name) = rest.strip_suffix("` |")?.rsplit_once("| `")?;
    Some((word, name))
}

/// Returns every name in the sources, and the names of their files and folders.
fn names_in_sources(tree: &Tree) -> BTreeSet<&str> {
    let sources = tree.files.iter().filter(|file| {
        file.has_extension(&["rs"])
            && file.path.starts_with("crates/")
            && file.path.contains("/src/")
    });
    let is_no_part = |letter: char| !letter.is_alphanumeric() && letter != '_';
    sources
        .flat_map(|file| {
            file.text
                .split(is_no_part)
                .chain(file.path.split(is_no_part))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_name_that_is_gone_and_a_second_meaning_are_found() {
        let page = "| word | meaning | in the code |\n|---|---|---|\n\
                    | **run** | One execution. | `RunId` |\n\
                    | **run** | Another. | `runs` |\n\
                    | **dialect** | A format. | `Dialect` |\n";
        let code = "pub struct RunId;\n// A Dialects is no such name.\n";
        let files = [(PAGE, page), ("crates/a/src/runs/mod.rs", code)];
        assert_eq!(
            found(check, &files),
            [
                "docs/design/vocabulary.md:4: \"run\" has a row already; a word has one meaning",
                "docs/design/vocabulary.md:5: no source has the name `Dialect`; name what \"dialect\" is now",
            ]
        );
    }
}
