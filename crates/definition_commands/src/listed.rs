//! The definitions that count, as programs read them.

use pi_subagents_configuration::{Asker, summary};
use pi_subagents_vocabulary::Definition;
use serde_json::{Value, json};

use super::fields;
use super::seen::Seen;
use pi_subagents_ground::places::Places;
use pi_subagents_vocabulary::Door;

/// Returns every definition that counts at a place, and the ignored ones.
pub fn seen_definitions(places: Places) -> Value {
    listed(&Seen::from(places, false, Door::CommandLine))
}

/// Returns every definition that counts, and the ignored ones.
pub(super) fn listed(seen: &Seen) -> Value {
    let definitions = seen.catalogue().effective(Asker::Delegation);
    let rows: Vec<Value> = definitions.iter().copied().map(row).collect();
    json!({
        "profiles": rows,
        "ignored": seen.ignored(),
        "notices": seen.notices(),
        "warnings": seen.warnings(),
    })
}

fn row(definition: &Definition) -> Value {
    let mut row = fields::to_json(definition);
    if let Value::Object(row) = &mut row {
        row.insert("summary".to_owned(), json!(summary(definition)));
    }
    row
}
