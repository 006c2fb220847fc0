//! `host`: the process that the extension of pi talks to.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use crate::places::find_places;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_pi_host::serve;

/// The note for a person who typed the command.
const WAITING: &str = "\
Waiting for the extension of pi on stdin, as JSON lines. The pi package starts
this command itself, and people do not need it; Ctrl-D ends it.";

pub(crate) fn run() -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    if io::stdin().is_terminal() {
        Printer::for_people().note(WAITING);
    }
    block_on(serve(&places))
}
