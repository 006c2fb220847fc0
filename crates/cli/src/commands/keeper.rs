//! The hidden command that keeps a child.

use std::ffi::OsString;
use std::process::ExitCode;

pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let run = arguments.next().unwrap_or_default();
    match pi_subagents_engine::keep(&run.to_string_lossy()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Our stderr is the child's, so its owner reads this beside the words of the child.
            _ = std::io::Write::write_all(
                &mut std::io::stderr(),
                format!("keeper: {error}\n").as_bytes(),
            );
            ExitCode::FAILURE
        }
    }
}
