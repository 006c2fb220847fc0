//! The hidden command that owns a background run.

use std::process::ExitCode;

use super::block_on;
use crate::background;

/// Its name on the command line.
pub(crate) const NAME: &str = "detached";

pub(crate) fn run() -> ExitCode {
    match block_on(background::live()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever waits for an answer sees that none comes.
        Err(_) => ExitCode::FAILURE,
    }
}
