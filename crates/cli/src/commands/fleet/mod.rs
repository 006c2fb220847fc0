//! `fleet`: sets a fleet up, and makes the keys of its users.

mod init;
mod key;
mod server_entry;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

#[derive(Args)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    command: FleetCommand,
}

#[derive(Subcommand)]
enum FleetCommand {
    /// Make or update the queues and stores of the fleet on its server
    #[command(after_help = init::EXAMPLES)]
    Init(init::InitArgs),
    /// Make a key for a caller or a worker, and print its entry for the server's file
    #[command(after_help = key::EXAMPLES)]
    Key(key::KeyArgs),
}

pub(crate) fn run(args: &FleetArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    match &args.command {
        FleetCommand::Init(args) => init::run(args, printer),
        FleetCommand::Key(args) => key::run(args, printer),
    }
}
