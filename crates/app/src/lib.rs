//! # pi-subagents
//!
//! The doors to one engine. This crate alone knows the command line, the environment, the home
//! directory and the terminal.
//!
//! For a Rust program the door is [`Team`]: it is opened with [`TeamOptions`], takes [`Task`]s and
//! gives [`Outcome`]s. The events of its runs go to [`EventSink`]s. The types of events are
//! those of [`delegation`].

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests make the files that they read"
    )
)]
#![cfg_attr(
    not(feature = "fleet"),
    expect(
        dead_code,
        unused_imports,
        reason = "some parts of resolving, opening and keeping runs are there for the fleet alone"
    )
)]

mod attach;
mod bell;
mod calls;
mod configuration;
mod doors;
mod error;
mod exit;
mod locale;
mod log;
mod own_commands;
mod places;
mod print;
mod profiles;
mod random;
mod runs;
mod runtime;
mod signals;
mod terminal;
mod token_file;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::doors::command_line::cli;
use crate::doors::command_line::commands::{agent, detached, ended, keeper, sweeper, warden};
use crate::doors::command_line::completion;
use crate::print::Printer;

pub use pi_subagents_delegation as delegation;
pub use pi_subagents_delegation::{
    Definition, EventSink, RunEvent, RunId, RunSummary, RunnerChoice, SessionId, Status, Usage,
};

pub use crate::doors::library::{
    ChangedFile, Clash, Conflict, Delegated, MergeCheck, MergeOutcome, Merged, Outcome, Task, Team,
    TeamError, TeamErrorKind, TeamOptions, Workspace, WorkspaceState,
};

/// Runs the binary, from its arguments to its exit code.
#[doc(hidden)]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let name = arguments.get(1).and_then(|word| word.to_str());
    let further = arguments.iter().skip(2).cloned();
    // These processes are started far more often than people type commands, so they skip the parser.
    match name {
        Some(own_commands::KEEPER) => with_log(own_commands::KEEPER, || keeper::run(further)),
        Some(own_commands::WARDEN) => with_log(own_commands::WARDEN, || warden::run(further)),
        Some(own_commands::DETACHED) => {
            with_log(own_commands::DETACHED, || log::end(detached::run()))
        }
        // A log would be written at every press of a key.
        Some(own_commands::COMPLETE) => completion::run(further),
        Some(own_commands::ENDED) => {
            with_log(own_commands::ENDED, || log::end(ended::run(further)))
        }
        Some(own_commands::SWEEPER) => with_log(own_commands::SWEEPER, || log::end(sweeper::run())),
        Some(own_commands::AGENT) => {
            with_log(own_commands::AGENT, || log::end(agent::run(further)))
        }
        _ => print::checked(cli::run(arguments)),
    }
}

/// Runs a command that no person types, with its log begun.
fn with_log(name: &str, command: impl FnOnce() -> ExitCode) -> ExitCode {
    match log::start_beside(name) {
        Ok(()) => command(),
        Err(error) => Printer::for_people().fail(&error),
    }
}
