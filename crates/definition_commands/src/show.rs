//! `profile show`: all fields of a definition.

use std::process::ExitCode;

use serde_json::json;

use super::seen::Seen;
use super::{choose, details, fields};
use pi_subagents_calls::families::subagent;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

pub(crate) fn run(name: &str, seen: &Seen, printer: Printer) -> Result<ExitCode, CommandError> {
    let found = choose::counting(name, seen)?;
    if printer.is_json() {
        let shadowed: Vec<_> = found.shadowed.iter().map(|hidden| &hidden.file).collect();
        printer.json(&json!({
            "profile": fields::to_json(found.definition),
            "shadowed": shadowed,
            "ignored": seen.ignored(),
            "notices": seen.notices(),
            "warnings": seen.warnings(),
        }));
    } else {
        let file = seen.short(&found.definition.file);
        printer.data(&details::page(found.definition, &file));
        let taken = seen.catalogue().find(name, subagent::ASKER).ok();
        if let Some(other) = taken.filter(|other| other.definition.file != found.definition.file) {
            let file = seen.short(&other.definition.file);
            printer.note(&format!("run and spawn take {file} for this name."));
        }
        seen.tell(printer);
    }
    Ok(ExitCode::SUCCESS)
}
