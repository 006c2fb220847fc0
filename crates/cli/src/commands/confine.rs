//! The hidden command that confines itself and becomes a child, or the shell of one, or that lets
//! another process do so and waits for its end.

use std::ffi::OsString;
use std::process::ExitCode;

use pi_subagents_confine::{confine, confine_inner};
use pi_subagents_engine::ConfinedCommand;
use pi_subagents_ground::own_commands::CONFINED_COMMAND;

/// The word with which a confined child starts its shell.
const INNER: &str = "--inner";

pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = arguments.collect();
    match words.split_first() {
        Some((first, shell)) if first == INNER => confine_inner(shell),
        Some((first, [])) if first == CONFINED_COMMAND => ConfinedCommand::run_from_stdin(),
        Some(_) | None => confine(),
    }
}
