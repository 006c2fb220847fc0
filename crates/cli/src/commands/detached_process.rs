//! The hidden command that owns a background run.

use std::process::ExitCode;

use crate::places::find_places;
use pi_subagents_calls::detached_process;
use pi_subagents_ground::runtime::block_on;

pub(crate) fn run() -> ExitCode {
    match block_on(detached_process::live(find_places())) {
        Ok(()) => ExitCode::SUCCESS,
        // The caller sees that this process ended without an answer.
        Err(_) => ExitCode::FAILURE,
    }
}
