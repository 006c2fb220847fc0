//! `profile show`: all fields of a definition.

use std::process::ExitCode;

use super::results::AgentResult;
use super::visible_agents::VisibleAgents;
use super::{choose, details, fields};
use pi_subagents_calls::families::subagent;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

pub(crate) fn run(
    name: &str,
    seen: &VisibleAgents,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let found = choose::counting(name, seen)?;
    if printer.is_json() {
        let shadowed = found.shadowed.iter().map(|hidden| hidden.file.clone());
        printer.json(&AgentResult {
            agent: fields::printed(found.definition),
            shadowed: shadowed.collect(),
            seen: seen.beside(),
        });
    } else {
        let file = seen.short(&found.definition.file);
        printer.data(&details::page(found.definition, &file));
        let taken = seen.catalogue().find(name, subagent::ASKER).ok();
        if let Some(other) = taken.filter(|other| other.definition.file != found.definition.file) {
            let file = seen.short(&other.definition.file);
            printer.note(&format!("run and spawn take {file} for this name."));
        }
        seen.print_notes(printer);
    }
    Ok(ExitCode::SUCCESS)
}
