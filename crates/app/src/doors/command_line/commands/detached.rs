//! The hidden command that owns a background run.

use std::process::ExitCode;

use crate::calls::detached;
use crate::runtime::block_on;

pub(crate) fn run() -> ExitCode {
    match block_on(detached::live()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever waits for an answer sees that none comes.
        Err(_) => ExitCode::FAILURE,
    }
}
