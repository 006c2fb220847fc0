//! A doc begins with its subject. A clause without one has to be read twice: "What was asked." says
//! less than "The prompt of the task.", and "Whether it is over." less than "True if the run is over."

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

/// The beginnings of clauses that have no subject.
const HEADLESS: [&str; 9] = [
    "What",
    "Whatever",
    "Whether",
    "Who",
    "Whoever",
    "Whose",
    "Of",
    "One that",
    "That which",
];

/// The derives that turn the docs of fields into help or into a schema, which read as labels.
const LABELLED: [&str; 5] = ["Args", "Parser", "Subcommand", "ValueEnum", "JsonSchema"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree.files.iter().filter(|file| file.has_extension(&["rs"]));
    sources.flat_map(offenders).collect()
}

/// Returns the docs of a file that begin without a subject. Docs inside a type with labels are left
/// alone.
fn offenders(file: &SourceFile) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut is_labelled = false;
    let mut is_in_doc = false;
    for (at, line) in file.text.lines().enumerate() {
        let code = line.trim_start();
        is_labelled = (is_labelled && line != "}") || derives_labels(code);
        let doc = code.strip_prefix("///").or(code.strip_prefix("//!"));
        if let Some(word) = doc
            .filter(|_| !is_in_doc && !is_labelled)
            .and_then(headless)
        {
            let message = format!(
                "a doc begins with its subject (\"The prompt of the task.\", \"True if …\"), not \
                 with \"{word}\""
            );
            found.push(Finding::at(&file.path, at + 1, message));
        }
        is_in_doc = doc.is_some();
    }
    found
}

fn derives_labels(code: &str) -> bool {
    let Some(derived) = code.strip_prefix("#[derive(") else {
        return false;
    };
    let mut names = derived.split(|letter: char| !letter.is_alphanumeric());
    names.any(|name| LABELLED.contains(&name))
}

/// Returns the beginning that gives a clause away.
fn headless(doc: &str) -> Option<&'static str> {
    let doc = doc.trim_start();
    let begins_with = |word: &str| {
        let rest = doc.strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    HEADLESS.into_iter().find(|word| begins_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::found;

    #[test]
    fn a_clause_without_a_subject_is_found_in_every_doc() {
        for (text, word) in [
            ("//! What it is for.\n", "What"),
            ("/// Whether it is over.\npub is_over: bool,\n", "Whether"),
            ("    /// Who owns it.\n    Owner,\n", "Who"),
            ("/// Whose it is.\nstruct Owner;\n", "Whose"),
            ("/// Of several, the last.\nstruct Last;\n", "Of"),
            ("/// One that is over.\nstruct Over;\n", "One that"),
        ] {
            let expected = format!(
                "crates/a/src/b.rs:1: a doc begins with its subject (\"The prompt of the task.\", \
                 \"True if …\"), not with \"{word}\""
            );
            assert_eq!(found(check, &[("crates/a/src/b.rs", text)]), [expected]);
        }
    }

    #[test]
    fn subjects_later_lines_and_plain_comments_are_fine() {
        for text in [
            "/// The prompt.\n/// What follows is the same sentence.\nstruct Prompt;\n",
            "/// Offers of a shell.\nstruct Offers;\n",
            "// What follows is a step.\nfn step() {}\n",
            "let text = \"/// What is quoted\";\n",
        ] {
            let nothing: [&str; 0] = [];
            assert_eq!(
                found(check, &[("testkit/src/a.rs", text)]),
                nothing,
                "{text}"
            );
        }
    }

    #[test]
    fn labels_of_help_and_of_a_schema_are_left_alone_until_their_type_ends() {
        let labelled =
            "#[derive(Debug, Args)]\nstruct A {\n    /// Who the key is for\n    a: u8,\n}\n";
        let text = &format!("{labelled}\n/// What comes behind it.\nstruct B;\n");
        let found = found(check, &[("crates/app/src/a.rs", text)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/app/src/a.rs:7:"), "{found:?}");
    }
}
