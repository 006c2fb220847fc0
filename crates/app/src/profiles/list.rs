//! `profile list`: every definition that counts, one line each.

use std::process::ExitCode;

use pi_subagents_definitions::{Asker, listing, summary};
use pi_subagents_delegation::Definition;
use serde_json::{Value, json};

use super::fields;
use super::seen::Seen;
use crate::print::Printer;

pub(super) fn run(seen: &Seen, printer: Printer) -> ExitCode {
    let definitions = seen.catalogue().effective(Asker::Delegation);
    if printer.is_json() {
        let rows: Vec<Value> = definitions.iter().copied().map(row).collect();
        printer.json(&json!({
            "profiles": rows,
            "ignored": seen.ignored(),
            "notices": seen.notices(),
            "warnings": seen.warnings(),
        }));
    } else {
        printer.data(&listing(&definitions));
        seen.tell(printer);
    }
    ExitCode::SUCCESS
}

fn row(definition: &Definition) -> Value {
    let mut row = fields::to_json(definition);
    if let Value::Object(row) = &mut row {
        row.insert("summary".to_owned(), json!(summary(definition)));
    }
    row
}
