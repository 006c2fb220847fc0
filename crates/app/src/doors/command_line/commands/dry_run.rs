//! `--dry-run`: prints the parts that a call would send to a fleet.

use std::process::ExitCode;

use crate::calls::caller::Caller;
use crate::calls::fleet::DryRun;
use crate::configuration::Configuration;
use crate::error::CommandError;
use crate::print::Printer;
use crate::runtime::block_on;

/// Prints the parts that would travel, and starts nothing.
pub(super) fn print(
    caller: &Caller,
    configuration: &Configuration,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let found = block_on(DryRun::look(caller, configuration))?;
    if printer.is_json() {
        printer.json(&found.json());
    } else {
        printer.data(&found.lines().join("\n"));
        printer.note("\nNothing was sent.");
    }
    Ok(ExitCode::SUCCESS)
}
