//! `host`: the process that the extension of pi talks to.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use crate::doors::pi::serve;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runtime::block_on;

/// The note for a person who typed the command.
const WAITING: &str = "\
Waiting for the extension of pi on stdin, as JSON lines. The pi package starts
this command itself, and people do not need it; Ctrl-D ends it.";

pub(crate) fn run() -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    if io::stdin().is_terminal() {
        Printer::for_people().note(WAITING);
    }
    block_on(serve(&places))
}
