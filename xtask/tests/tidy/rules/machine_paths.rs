//! No file knows the machine it was written on.

use xtask::source::Tree;

use crate::finding::Finding;

/// Put together, because this file is searched too.
const PLACES: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        for (number, line) in file.numbered_lines() {
            if let Some(place) = PLACES.iter().find(|place| names(line, place)) {
                let message = format!("{place} is a place of one machine; use a made-up path");
                findings.push(Finding::at(&file.path, number, message));
            }
        }
    }
    findings
}

/// Tells whether a line names the place itself and not `project/<place>`.
fn names(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|before| !(before.is_alphanumeric() || "._-~}>*".contains(before)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn the_place_of_a_machine_is_found() {
        let text = format!("fine\n\"{}x\"\n", PLACES[0]);
        assert_eq!(
            found(check, &[("docs/a.md", &text)]),
            [format!(
                "docs/a.md:2: {} is a place of one machine; use a made-up path",
                PLACES[0]
            )]
        );
        assert_eq!(
            found(check, &[("a", &format!("file://{}.pi", PLACES[1]))]).len(),
            1
        );
    }

    #[test]
    fn a_part_of_a_longer_path_is_not() {
        let text = format!("project{}file ~{}file", PLACES[0], PLACES[1]);
        assert_eq!(found(check, &[("a", &text)]).len(), 0);
    }
}
