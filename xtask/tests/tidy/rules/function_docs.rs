//! The doc of a function is a sentence that begins with a verb in the third person: "Returns the
//! runs that are still open". A headless clause ("What of it is open") has to be read twice.

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

/// The parts of the sources whose function docs are not all sentences yet. A part leaves this list
/// when its last doc is mended; the rule says when that has happened.
const STILL_TO_WRITE: &[&str] = &[];

/// Words that end like a verb in the third person and are no verbs.
const NO_VERBS: &[&str] = &[
    "Always",
    "As",
    "Besides",
    "Bytes",
    "Dollars",
    "Its",
    "Lines",
    "Others",
    "Seconds",
    "Sometimes",
    "This",
    "Us",
    "Whereas",
    "Yes",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    check_without(tree, STILL_TO_WRITE)
}

/// Checks all sources but those below `unfinished`. Each of these parts must have an offender.
fn check_without(tree: &Tree, unfinished: &[&str]) -> Vec<Finding> {
    let sources = tree.files.iter().filter(|file| is_source(file));
    let offenders: Vec<Finding> = sources.flat_map(offenders).collect();
    let part_of = |finding: &Finding| {
        let mut parts = unfinished.iter();
        parts.position(|part| finding.path.starts_with(part))
    };
    let parts_with_offenders: Vec<usize> = offenders.iter().filter_map(part_of).collect();
    let finished = unfinished.iter().enumerate();
    let finished = finished.filter(|(at, _)| !parts_with_offenders.contains(at));
    let finished: Vec<Finding> = finished.map(|(_, part)| can_leave_the_list(part)).collect();
    let mut findings = offenders;
    findings.retain(|finding| part_of(finding).is_none());
    findings.extend(finished);
    findings
}

fn can_leave_the_list(part: &str) -> Finding {
    let message = "every function doc begins with a verb now; take this part off the list in \
                   xtask/tests/tidy/rules/function_docs.rs";
    Finding::of_file(part, message)
}

fn is_source(file: &SourceFile) -> bool {
    let is_ours = ["crates/", "testkit/", "xtask/"];
    file.has_extension(&["rs"])
        && file.path.contains("/src/")
        && is_ours.iter().any(|root| file.path.starts_with(root))
}

/// Returns the function docs of a file that begin with another word than a verb.
fn offenders(file: &SourceFile) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().map(str::trim_start).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let is_first = at == 0 || !lines[at - 1].starts_with("///");
        let Some(doc) = line.strip_prefix("///").filter(|_| is_first) else {
            continue;
        };
        if is_function(documented_item(&lines[at..])) && !begins_with_a_verb(doc) {
            let message = format!(
                "the doc of a function begins with a verb in the third person (\"Returns …\"), \
                 not with \"{}\"",
                doc.split_whitespace().next().unwrap_or_default()
            );
            found.push(Finding::at(&file.path, at + 1, message));
        }
    }
    found
}

/// Returns the line behind a doc and the attributes that follow it.
fn documented_item<'a>(lines: &[&'a str]) -> &'a str {
    let mut is_in_attribute = false;
    for line in lines {
        let begins_attribute = line.starts_with("#[");
        if line.starts_with("///") || begins_attribute || is_in_attribute {
            is_in_attribute = (begins_attribute || is_in_attribute) && !line.ends_with(']');
            continue;
        }
        return line;
    }
    ""
}

fn is_function(line: &str) -> bool {
    let mut rest = line;
    if let Some(behind) = rest.strip_prefix("pub(") {
        rest = behind.split_once(") ").map_or("", |(_, behind)| behind);
    }
    for word in ["pub ", "const ", "async ", "unsafe ", "extern \"C\" "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    rest.starts_with("fn ")
}

fn begins_with_a_verb(doc: &str) -> bool {
    let doc = doc.trim_start();
    let end = doc.find(|letter: char| !letter.is_ascii_alphabetic() && letter != '\'');
    let word = &doc[..end.unwrap_or(doc.len())];
    word.ends_with('s') && !word.contains('\'') && !NO_VERBS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_file(path: &str, text: &str, unfinished: &[&str]) -> Vec<String> {
        let findings = check_without(&Tree::of(&[(path, text)]), unfinished);
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_doc_without_a_verb_is_found_whatever_the_function_looks_like() {
        for function in [
            "fn open() {}",
            "pub fn open() {}",
            "    pub(in crate::runs) async fn open(&self);",
            "#[must_use]\npub const fn open() {}",
            "#[expect(\n    clippy::x,\n    reason = \"y\"\n)]\nunsafe fn open() {}",
        ] {
            let text = format!("mod a;\n\n/// What of it is open.\n/// More.\n{function}\n");
            let expected = "crates/records/src/a.rs:3: the doc of a function begins with a verb \
                            in the third person (\"Returns …\"), not with \"What\"";
            let found = check_file("crates/records/src/a.rs", &text, &[]);
            assert_eq!(found, [expected], "{function}");
        }
    }

    #[test]
    fn words_that_only_end_like_a_verb_are_found() {
        for word in ["This", "Its", "As", "Always", "Pi's", "`ls`", ""] {
            let text = format!("/// {word} way.\nfn open() {{}}\n");
            assert_eq!(check_file("xtask/src/a.rs", &text, &[]).len(), 1, "{word}");
        }
    }

    #[test]
    fn verbs_and_docs_of_other_things_are_fine() {
        for text in [
            "/// Returns the open runs.\nfn open() {}\n",
            "/// What is open.\nstruct Open;\n",
            "/// What is open.\npub is_open: bool,\nfn open() {}\n",
            "// What is open.\nfn open() {}\n",
            "fn open() {}\n",
        ] {
            let found = check_file("testkit/src/a.rs", text, &[]);
            assert_eq!(found.len(), 0, "{text}");
        }
        let headless = "/// What is open.\nfn open() {}\n";
        assert_eq!(check_file("testkit/tests/it/a.rs", headless, &[]).len(), 0);
    }

    #[test]
    fn an_unfinished_part_is_left_alone_until_it_is_finished() {
        let headless = "/// What is open.\nfn open() {}\n";
        let path = "crates/app/src/a.rs";
        assert_eq!(check_file(path, headless, &["crates/app/"]).len(), 0);
        assert_eq!(check_file(path, headless, &["crates/app/src/b/"]).len(), 2);
        let found = check_file(path, "fn open() {}\n", &["crates/app/"]);
        assert!(found[0].contains("take this part off"), "{found:?}");
    }
}
