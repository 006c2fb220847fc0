//! The hidden command that watches over an owner.

use std::ffi::OsString;
use std::process::ExitCode;

pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let owner = arguments.next().unwrap_or_default();
    pi_subagents_engine::ward(&owner.to_string_lossy());
    ExitCode::SUCCESS
}
