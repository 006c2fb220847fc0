//! The hidden command that keeps the programs of another process of ours.

use std::process::ExitCode;

pub(crate) fn run() -> ExitCode {
    match pi_subagents_os::keep_program() {
        Ok(()) => ExitCode::SUCCESS,
        // Its owner sees that it is gone.
        Err(_) => ExitCode::FAILURE,
    }
}
