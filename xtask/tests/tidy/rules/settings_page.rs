//! Every setting and every variable of the program is on the page of settings.

use std::collections::BTreeSet;

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

const PAGE: &str = "docs/settings.md";

/// The sources that read settings.
const SETTINGS: &str = "crates/configuration/src/settings/";

/// Pages with the keys of single settings that are objects.
const PARTS: [&str; 2] = ["docs/fleet.md", "docs/budgets.md"];

/// Variables that tests and benchmarks alone set.
const OF_TESTS: [&str; 2] = ["PI_SUBAGENTS_TEST", "PI_SUBAGENTS_CONFINE_FAULT"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.text(PAGE) else {
        return Vec::new();
    };
    let pages = PARTS
        .iter()
        .filter_map(|part| tree.text(part))
        .chain([page]);
    let pages: String = pages.collect();
    let missing = |name: &&&str| {
        !pages.contains(&format!("`{name}`")) && !pages.contains(&format!("\"{name}\""))
    };
    let names = names(tree);
    let findings = names.iter().filter(missing);
    findings
        .map(|name| {
            Finding::of_file(
                PAGE,
                format!("does not have `{name}`, which the program reads"),
            )
        })
        .collect()
}

fn names(tree: &Tree) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for file in tree.files.iter().filter(|file| is_source(file)) {
        let source = file.text.split("#[cfg(test)]").next().unwrap_or_default();
        for text in source.split('"').skip(1).step_by(2) {
            if text.starts_with("PI_SUBAGENT")
                && text.chars().all(is_of_variable)
                && !OF_TESTS.contains(&text)
            {
                names.insert(text);
            }
        }
        if file.path.starts_with(SETTINGS) {
            names.extend(source.lines().filter_map(setting));
        }
    }
    names
}

fn is_source(file: &SourceFile) -> bool {
    let is_rust = file.has_extension(&["rs"]) && file.path.contains("/src/");
    is_rust && file.path.starts_with("crates/") && !file.path.ends_with("tests.rs")
}

fn is_of_variable(letter: char) -> bool {
    letter.is_ascii_uppercase() || letter == '_'
}

/// Returns the key of a line such as `reader.number("maxCost", 0, 9)`.
fn setting(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("(\"")?;
    let (_, act) = before.rsplit_once('.')?;
    let acts = [
        "amount", "choice", "leave", "number", "object", "parsed", "text", "texts",
    ];
    let (key, _) = rest.split_once('"')?;
    acts.contains(&act).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_setting_and_a_variable_that_the_page_lacks_are_found() {
        let source = "let a = reader.number(\"maxCost\", 0, 9);\nreader.text(\"runsDir\");\n\
                      const B: &str = \"PI_SUBAGENTS_PI\";\n#[cfg(test)]\n\"PI_SUBAGENTS_X\"\n";
        let files = [
            (PAGE, "`runsDir`\n"),
            ("crates/configuration/src/settings/values.rs", source),
        ];
        assert_eq!(
            found(check, &files),
            [
                "docs/settings.md: does not have `PI_SUBAGENTS_PI`, which the program reads",
                "docs/settings.md: does not have `maxCost`, which the program reads",
            ]
        );
    }
}
