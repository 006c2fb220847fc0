//! # pi-subagents
//!
//! The doors to one engine. This crate alone knows the command line, the environment, the home
//! directory and the terminal.
//!
//! For a Rust program the door is [`Team`]: it is opened with [`TeamOptions`], takes [`Task`]s and
//! gives [`Outcome`]s. What happens in the runs is told to [`EventSink`]s. The words of events are
//! those of [`delegation`].

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests make the files that they read"
    )
)]

mod attach;
mod background;
mod call_progress;
mod caller;
mod changes;
mod cli;
mod commands;
mod configuration;
mod conversations;
mod counts;
mod dialects;
mod door;
mod error;
mod exit;
mod host;
mod json_stream;
mod known_runs;
mod lost_record;
mod owner;
mod panes;
mod places;
mod print;
mod random;
mod recorded;
mod run_changes;
mod runner;
mod signals;
mod team;
mod toolbox;
mod trust_question;
mod updates;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::commands::{agent, detached, keeper, warden};

pub use pi_subagents_delegation as delegation;
pub use pi_subagents_delegation::{
    Definition, EventSink, RunEvent, RunId, RunnerChoice, SessionId, Status, Usage,
};

pub use crate::team::{Delegated, Outcome, Task, Team, TeamError, TeamErrorKind, TeamOptions};

/// The binary, from its arguments to its exit code.
#[doc(hidden)]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // Children start a thousand times as often as people type: they pass the parser by.
    match arguments.get(1).and_then(|word| word.to_str()) {
        Some(keeper::NAME) => keeper::run(arguments.into_iter().skip(2)),
        Some(warden::NAME) => warden::run(arguments.into_iter().skip(2)),
        Some(detached::NAME) => detached::run(),
        Some(agent::NAME) => agent::run(arguments.into_iter().skip(2)),
        _ => print::checked(cli::run(arguments)),
    }
}
