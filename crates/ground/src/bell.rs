//! Rings for a person who looks elsewhere: the bell of the terminal, and a notice of the desktop for
//! terminals that know OSC 9.

use std::io::{self, IsTerminal as _, Write as _};

use pi_subagents_vocabulary::text::{clean, count, cut_columns, one_line};

use crate::places::environment_variable;

/// The number of columns of a text that a notice of a desktop shows.
const LONGEST: usize = 120;

/// Rings, if stderr is a terminal that can.
fn ring(text: &str) {
    let is_dumb = environment_variable("TERM").is_none_or(|term| term == "dumb");
    if io::stderr().is_terminal() && !is_dumb {
        // Nothing can be done about a terminal that is gone.
        _ = io::stderr().write_all(sequence(text).as_bytes());
    }
}

/// Rings because runs have ended, each given by its name and the word for its state.
pub fn ring_for_ended(runs: &[(&str, &str)]) {
    match runs {
        [] => {}
        [(name, state)] => ring(&format!("{name} {state}")),
        several => ring(&format!("{} ended", count(several.len(), "run"))),
    }
}

/// Returns the sequence for the terminal. The notice comes first: in terminals that do not know it
/// the bell still rings.
fn sequence(text: &str) -> String {
    // Some terminals take a number at the beginning for another command, so a name comes first.
    let text = cut_columns(&one_line(&clean(text)), LONGEST);
    format!("\x1b]9;pi-subagents: {text}\x1b\\\x07")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_gets_out_of_its_notice() {
        assert_eq!(
            sequence("scout completed"),
            "\x1b]9;pi-subagents: scout completed\x1b\\\x07"
        );
        let hostile = sequence("a\x07\x1b]52;c;eA==\x07\nb\u{9c}c");
        let inner = &hostile["\x1b]9;".len()..hostile.len() - "\x1b\\\x07".len()];
        assert!(!inner.chars().any(char::is_control), "{hostile:?}");
        assert!(sequence(&"x".repeat(1000)).len() < 200);
    }
}
