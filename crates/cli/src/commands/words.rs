//! Texts that a person types as words of the command line, or pipes into stdin.

use std::io::{self, IsTerminal as _, Read as _};

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

/// Joins words of the command line to one text; `-` alone reads it from stdin.
pub(super) fn joined(what: &str, words: &[String]) -> Result<String, CommandError> {
    let text = if words == ["-"] {
        piped()?
    } else {
        words.join(" ")
    };
    if text.trim().is_empty() {
        return Err(CommandError::usage(format!("the {what} must not be empty")));
    }
    Ok(text)
}

/// Reads a text from stdin.
pub(super) fn piped() -> Result<String, CommandError> {
    stdin().map_err(|error| CommandError::usage("could not read stdin").because(&error))
}

/// Reads all of stdin. At a terminal it first prints that it waits for input.
pub(super) fn stdin() -> io::Result<String> {
    let mut stdin = io::stdin();
    if stdin.is_terminal() {
        Printer::for_people().note("Reading from this terminal. End with Ctrl-D on an empty line.");
    }
    let mut text = String::new();
    stdin.read_to_string(&mut text)?;
    Ok(text)
}
