//! No text below the doors names a command to type: who reads it may be a model with tools, or a
//! person at a page. Such a text carries an `Advice`, and the door words it.

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

/// The crates that doors are made of, and the one place with the words of all doors. The person who
/// runs a fleet or edits definitions by commands has a shell.
const MAY: [&str; 11] = [
    "crates/app/",
    "crates/cli/",
    "crates/definition_commands/",
    "crates/fleet/",
    "crates/fleet_queue/",
    "crates/mcp_server/",
    "crates/pi_host/",
    "crates/team/",
    "crates/tui/",
    "crates/vocabulary/src/advice/",
    "crates/web/",
];

/// The commands that somebody may be advised to type.
const COMMANDS: [&str; 21] = [
    "agents", "attach", "clean", "diff", "discard", "doctor", "keep", "logs", "merge", "output",
    "profile", "resume", "run", "session", "spawn", "status", "steer", "stop", "trust", "wait",
    "web",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_below = |file: &&SourceFile| {
        file.path.starts_with("crates/")
            && file.path.contains("/src/")
            && file.has_extension(&["rs"])
            && !MAY.iter().any(|place| file.path.starts_with(place))
    };
    for file in tree.files.iter().filter(is_below) {
        for (number, line) in file.numbered_lines() {
            // What follows are tests, whose texts nobody reads.
            if line.trim() == "#[cfg(test)]" || file.path.ends_with("tests.rs") {
                break;
            }
            if !line.trim_start().starts_with("//") && names_a_command(line) {
                let message =
                    "a command line below the doors; use an Advice, which each door words";
                findings.push(Finding::at(&file.path, number, message.to_owned()));
            }
        }
    }
    findings
}

/// Tells whether a line names our program with one of its commands.
fn names_a_command(line: &str) -> bool {
    line.split("pi-subagents ").skip(1).any(|rest| {
        let word = rest.split(|letter: char| !letter.is_ascii_lowercase());
        word.into_iter()
            .next()
            .is_some_and(|word| COMMANDS.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_command_line_below_the_doors_is_found() {
        let text = "// pi-subagents wait\nlet how = \"pi-subagents wait {run}\";\n\"update pi-subagents on it\"\n#[cfg(test)]\n\"pi-subagents stop\"\n";
        assert_eq!(
            found(check, &[("crates/runs/src/a.rs", text)]),
            [
                "crates/runs/src/a.rs:2: a command line below the doors; use an Advice, which each door words"
            ]
        );
        assert_eq!(found(check, &[("crates/cli/src/a.rs", text)]), [""; 0]);
    }
}
