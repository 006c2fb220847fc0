//! The hidden command that runs the user's command for a background run whose own process did not see
//! its end.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::places::find_places;
use pi_subagents_records::RunDir;

use pi_subagents_calls::detached_process::run_alone;
use pi_subagents_ground::runtime::block_on;

/// Runs the command for the run of a directory.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    pi_subagents_os::leave_terminal();
    let (Some(directory), Ok(places)) = (arguments.next(), find_places()) else {
        return ExitCode::FAILURE;
    };
    let directory = RunDir::new(PathBuf::from(directory));
    let told = block_on(async {
        run_alone(&places, &directory).await;
        Ok(())
    });
    ExitCode::from(u8::from(told.is_err()))
}
