//! The hidden command that applies the retention of the settings to one project.

use std::process::ExitCode;

use pi_subagents_delegation::Timestamp;

use crate::places::Places;
use crate::runs::keeping::retention;

pub(crate) fn run() -> ExitCode {
    // Out of the terminal's reach; it fails only for a process that leads a group already.
    _ = rustix::process::setsid();
    if let Ok(places) = Places::find() {
        retention::apply(&places, Timestamp::now());
    }
    ExitCode::SUCCESS
}
