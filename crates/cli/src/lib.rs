//! # The command line
//!
//! The commands, their output, and the view of runs on a terminal. Every process of ours begins
//! here, also those of the other doors.

pub(crate) mod cli;
pub(crate) mod commands;
pub(crate) mod completion;
mod json_stream;
mod log_entry;
mod log_lines;
mod markdown_file;
mod message_json;
mod pager;
mod read_conversation;
pub(crate) mod run_table;
pub(crate) mod sheet;
pub(crate) mod since;
mod view;
pub(crate) mod waiting_line;

use std::ffi::OsString;
use std::process::ExitCode;

use pi_subagents_ground::print::Printer;
use pi_subagents_ground::{log, own_commands, print};

use crate::commands::{detached, embedded, ended, keeper, sweeper, warden};

/// Runs the binary, from its arguments to its exit code.
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
        Some(own_commands::EMBEDDED) => {
            with_log(own_commands::EMBEDDED, || log::end(embedded::run(further)))
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
