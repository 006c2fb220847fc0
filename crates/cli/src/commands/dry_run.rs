//! `--dry-run`: prints the parts that a call would send to a fleet.

use std::process::ExitCode;

use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::destination::Destination;
use pi_subagents_fleet::DryRun;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;

/// Prints the parts that would travel, and starts nothing.
pub(super) fn print(
    caller: &Caller,
    configuration: &Configuration,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let destination = Destination::of_call(caller, configuration)?;
    let Destination::Fleet(destination) = destination else {
        return Err(CommandError::usage(
            "--dry-run lists the files that would be sent to a fleet, and this call stays on this machine",
        )
        .hint("Add --on fleet."));
    };
    let found = block_on(DryRun::look(caller, *destination))?;
    if printer.is_json() {
        printer.json(&found.printed());
    } else {
        printer.data(&found.lines().join("\n"));
        printer.note("\nNothing was sent.");
    }
    Ok(ExitCode::SUCCESS)
}
