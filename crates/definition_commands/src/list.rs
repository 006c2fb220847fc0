//! `profile list`: every definition that counts, one line each.

use std::process::ExitCode;

use pi_subagents_configuration::{Asker, listing};

use super::listed::listed;
use super::seen::Seen;
use pi_subagents_ground::print::Printer;

pub(crate) fn run(seen: &Seen, printer: Printer) -> ExitCode {
    if printer.is_json() {
        printer.json(&listed(seen));
    } else {
        printer.data(&listing(&seen.catalogue().effective(Asker::Delegation)));
        seen.tell(printer);
    }
    ExitCode::SUCCESS
}
