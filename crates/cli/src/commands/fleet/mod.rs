//! `fleet`: sets a fleet up, makes the keys of its users, works for it and lists who does.

mod init;
mod key;
mod server_entry;
mod work;
mod workers;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

pub(crate) use self::init::InitResult;
pub(crate) use self::key::KeyResult;
pub(crate) use self::work::worker_name;
pub(crate) use self::workers::WorkersResult;

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
    /// Run fleet tasks on this machine until stopped
    ///
    /// SIGTERM and Ctrl-C let running tasks end first; a second signal gives them back to the fleet.
    #[command(after_help = work::EXAMPLES)]
    Work(work::WorkArgs),
    /// List the workers of the fleet
    #[command(after_help = workers::EXAMPLES)]
    Workers,
}

pub(crate) fn run(args: &FleetArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    match &args.command {
        FleetCommand::Init(args) => init::run(args, printer),
        FleetCommand::Key(args) => key::run(args, printer),
        FleetCommand::Work(args) => work::run(args),
        FleetCommand::Workers => workers::run(printer),
    }
}
