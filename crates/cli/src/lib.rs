//! # The command line
//!
//! The commands, their output, and the view of runs on a terminal. Every process of ours begins
//! here, also those of the other doors.

pub(crate) mod background_job;
mod cli;
pub(crate) mod commands;
pub(crate) mod completion;
mod json_schemas;
mod json_stream;
mod live_keys;
mod log_entry;
mod log_lines;
mod markdown_file;
mod message_json;
mod pager;
pub(crate) mod past_time;
mod places;
mod read_conversation;
mod resting_models;
pub(crate) mod run_table;
mod runs_result;
mod view;
pub(crate) mod waiting_line;

use std::ffi::OsString;
use std::process::ExitCode;

use pi_subagents_ground::print::Printer;
use pi_subagents_ground::{log, own_commands, print};

use crate::commands::{
    bridge, confine, continuer, detached_process, embedded_agent, end_command, keeper,
    program_keeper, sweeper, warden,
};

/// Runs the binary, from its arguments to its exit code.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let name = arguments.get(1).and_then(|word| word.to_str());
    let further = arguments.iter().skip(2).cloned();
    // These processes are started far more often than people type commands, so they skip the parser.
    match name {
        Some(own_commands::KEEPER) => with_log(own_commands::KEEPER, || keeper::run(further)),
        // It must have one thread, and no file of a log is open inside.
        Some(own_commands::CONFINE) => confine::run(further),
        // Its owner logs the programs that it keeps.
        Some(own_commands::PROGRAM_KEEPER) => program_keeper::run(),
        Some(own_commands::WARDEN) => with_log(own_commands::WARDEN, || warden::run(further)),
        Some(own_commands::DETACHED) => {
            with_log(own_commands::DETACHED, || log::end(detached_process::run()))
        }
        // A log would be written at every press of a key.
        Some(own_commands::COMPLETE) => completion::run(further),
        Some(own_commands::ENDED) => {
            with_log(own_commands::ENDED, || log::end(end_command::run(further)))
        }
        Some(own_commands::CONTINUER) => continuer::run(further),
        Some(own_commands::SWEEPER) => with_log(own_commands::SWEEPER, || log::end(sweeper::run())),
        Some(own_commands::EMBEDDED) => with_log(own_commands::EMBEDDED, || {
            log::end(embedded_agent::run(further))
        }),
        Some(own_commands::BRIDGE) => {
            with_log(own_commands::BRIDGE, || log::end(bridge::run(further)))
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
