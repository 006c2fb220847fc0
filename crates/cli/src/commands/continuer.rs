//! The hidden command that continues an owner which has stopped itself: its shell takes the terminal
//! back meanwhile, as after Ctrl-Z, and the owner goes on behind it.

use std::ffi::OsString;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pi_subagents_os::{ProcessName, Processes as _, Signal, System, has_terminal};

/// The time for which a shell is waited for. One without jobs never takes its terminal back.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pause between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// Runs in the process group of the owner, so both have the terminal or none of them.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let owner = arguments.next();
    let owner = owner.and_then(|pid| pid.to_str()?.parse().ok());
    let Some(owner) = owner.map(ProcessName::of) else {
        return ExitCode::FAILURE;
    };
    let until = Instant::now() + PATIENCE;
    while has_terminal() && Instant::now() < until {
        sleep(LOOK);
    }
    System::signal(owner, Signal::CONT);
    ExitCode::SUCCESS
}
