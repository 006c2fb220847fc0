//! Every message that a document explains is a message of the program: its fixed parts are in the
//! sources or in a snapshot.

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

/// The page with messages in the first column of its tables.
const PAGE: &str = "docs/troubleshooting.md";

/// A shorter piece is found by chance.
const SHORTEST: usize = 10;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.files.iter().find(|file| file.path == PAGE) else {
        return Vec::new();
    };
    let sources = sources(tree);
    let mut findings = Vec::new();
    let mut is_of_messages = false;
    for (number, line) in page.numbered_lines() {
        if !line.starts_with('|') {
            is_of_messages = false;
            continue;
        }
        let mut cells = line.trim_start_matches(['|', ' ']).split(" | ");
        let cell = cells.next().unwrap_or_default();
        is_of_messages |= cell == "message";
        if !is_of_messages {
            continue;
        }
        for message in cell.split('`').skip(1).step_by(2) {
            for piece in pieces(message).filter(|piece| !sources.contains(*piece)) {
                let text =
                    format!("explains \"{message}\", and no source or snapshot has \"{piece}\"");
                findings.push(Finding::at(PAGE, number, text));
            }
        }
    }
    findings
}

/// Returns the parts of a message that are the same in every message of its kind.
fn pieces(message: &str) -> impl Iterator<Item = &str> {
    let is_changing = |letter: char| letter == '…' || letter == '"' || letter.is_ascii_digit();
    let parts = message.split(is_changing).flat_map(|part| part.split(" X"));
    let parts = parts
        .flat_map(|part| part.split("X "))
        .map(|part| part.trim_matches([' ', ':', ',', '.', '(', ')']));
    parts.filter(|part| part.len() >= SHORTEST && !part.contains('/'))
}

/// Returns all sources and snapshots as one text, each text of a source in one line.
fn sources(tree: &Tree) -> String {
    let is_source = |file: &&SourceFile| {
        file.path.starts_with("crates/") && file.has_extension(&["rs", "snap", "ts"])
    };
    let mut all = String::new();
    for file in tree.files.iter().filter(is_source) {
        for line in file.text.lines() {
            if let Some(begun) = line.strip_suffix('\\') {
                all += begun.trim_start();
            } else {
                all += line.trim_start();
                all.push('\n');
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_message_that_no_source_has_is_found() {
        let page = "| message | fix |\n|---|---|\n\
                    | `There is no provider \"X\"; did you mean \"Y\"?` | Correct it. |\n\
                    | `the keys are lost: …` | Find them. |\n\n\
                    | level | adds |\n| `nothing of all this` | |\n";
        let source =
            "format!(\n    \"There is no provider \\\"{name}\\\"; did \\\n     you mean\")\n";
        let files = [(PAGE, page), ("crates/a/src/lib.rs", source)];
        assert_eq!(
            found(check, &files),
            [
                "docs/troubleshooting.md:4: explains \"the keys are lost: …\", and no source or snapshot has \"the keys are lost\""
            ]
        );
    }
}
