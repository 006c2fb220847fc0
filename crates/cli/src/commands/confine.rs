//! The hidden command that confines itself and becomes a child, or the shell of one.

use std::ffi::OsString;
use std::process::ExitCode;

use pi_subagents_confine::{confine, confine_inner};

/// The word with which a confined child starts its shell.
const INNER: &str = "--inner";

pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = arguments.collect();
    match words.split_first() {
        Some((first, shell)) if first == INNER => confine_inner(shell),
        Some(_) | None => confine(),
    }
}
