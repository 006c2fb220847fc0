//! A file is named after its content: by a noun, never by a bare participle, gerund or adverb.

use xtask::source::Tree;

use crate::finding::Finding;

/// Words without a meaning of their own: under them, everything ends up in one file.
const SAY_NOTHING: [&str; 9] = [
    "common", "helper", "helpers", "manager", "managers", "misc", "stuff", "util", "utils",
];

/// Endings of participles, gerunds and adverbs.
const VERB_ENDINGS: [&str; 3] = ["ed", "ing", "ly"];

/// Nouns that have such an ending.
const NOUNS: [&str; 16] = [
    "ending",
    "family",
    "feed",
    "finding",
    "heading",
    "meaning",
    "merging",
    "opening",
    "packaging",
    "seed",
    "setting",
    "speed",
    "spending",
    "staging",
    "testing",
    "warning",
];

/// Participles without such an ending, and adverbs.
const OTHER_VERB_FORMS: [&str; 32] = [
    "again",
    "at_home",
    "at_work",
    "away",
    "begun",
    "brought",
    "caught_up",
    "chosen",
    "done",
    "drawn",
    "fed",
    "found",
    "given",
    "gone",
    "heard",
    "held",
    "in_the_way",
    "kept",
    "known",
    "left",
    "left_over",
    "lost",
    "made",
    "once",
    "outside",
    "said",
    "seen",
    "sent",
    "shown",
    "taken",
    "told",
    "under_way",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree
        .files
        .iter()
        .filter(|file| file.has_extension(&["rs", "ts", "js", "mjs", "py", "sh"]));
    sources
        .filter_map(|file| Some(Finding::of_file(&file.path, problem(&file.path)?)))
        .collect()
}

fn problem(path: &str) -> Option<String> {
    if let Some(word) = path
        .split(['/', '.', '_', '-'])
        .find(|word| SAY_NOTHING.contains(word))
    {
        return Some(format!(
            "\"{word}\" says nothing; name it after what it holds"
        ));
    }
    let (stem, _) = path.rsplit_once('.')?;
    let name = stem.split('/').find(|name| is_verb_form(name))?;
    Some(format!(
        "\"{name}\" is a form of a verb; name it by a noun that says what it holds"
    ))
}

fn is_verb_form(name: &str) -> bool {
    let has_ending = !name.contains(['_', '-'])
        && VERB_ENDINGS.iter().any(|ending| name.ends_with(ending))
        && !NOUNS.contains(&name);
    has_ending || OTHER_VERB_FORMS.contains(&name)
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

    #[test]
    fn bare_forms_of_verbs_are_found_and_nouns_are_not() {
        let files = [
            ("crates/engine/src/told.rs", ""),
            ("crates/engine/src/ending.rs", ""),
            ("crates/engine/src/packed/mod.rs", ""),
            ("crates/engine/src/packed_files.rs", ""),
            ("extension/src/drawing.ts", ""),
            ("docs/design/stopping.md", ""),
        ];
        assert_eq!(
            found(check, &files),
            [
                "crates/engine/src/told.rs: \"told\" is a form of a verb; name it by a noun that \
                 says what it holds",
                "crates/engine/src/packed/mod.rs: \"packed\" is a form of a verb; name it by a \
                 noun that says what it holds",
                "extension/src/drawing.ts: \"drawing\" is a form of a verb; name it by a noun that \
                 says what it holds",
            ]
        );
    }
}
