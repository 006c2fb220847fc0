//! The fields of a definition as programs and people read them. Keys are masked.

use pi_subagents_vocabulary::{
    Definition, Dialect, Field, FieldValue, Gate, McpServer, Translation, TranslationNote,
};
use serde_json::{Map, Value, json};

use super::results::PrintedAgent;

/// Returns a field as a line of text, if it is set.
pub(super) fn text(definition: &Definition, field: Field) -> Option<String> {
    set(definition, field).map(|value| value.to_string())
}

fn to_value(value: FieldValue<'_>) -> Value {
    match value {
        FieldValue::Text(text) => json!(text),
        FieldValue::Secret(masked) => json!(masked.to_string()),
        FieldValue::Switch(is_on) => json!(is_on),
        FieldValue::Names(list) | FieldValue::Texts(list) => json!(list),
        FieldValue::Time(time) => match time.subsec_nanos() {
            0 => json!(time.as_secs()),
            _ => json!(time.as_secs_f64()),
        },
        FieldValue::Count(count) => json!(count),
        FieldValue::Gates(gates) => Gate::write_all(gates),
        FieldValue::Servers(servers) => McpServer::write_all(servers),
        FieldValue::Json(value) => value.clone(),
    }
}

/// Returns the value of a field, if it is set. A switch that is off counts as not set.
fn set(definition: &Definition, field: Field) -> Option<FieldValue<'_>> {
    let value = definition.value(field)?;
    (value != FieldValue::Switch(false)).then_some(value)
}

/// Returns the whole definition as JSON, with the keys of a profile for every dialect.
pub(super) fn printed(definition: &Definition) -> PrintedAgent {
    let mut fields = Map::new();
    for field in Field::of_file() {
        if let Some(value) = set(definition, field) {
            fields.insert(key(field).to_owned(), to_value(value));
        }
    }
    PrintedAgent {
        name: definition.name.clone(),
        format: definition.dialect.as_str(),
        scope: definition.scope.as_str(),
        file: definition.file.clone(),
        lost: definition
            .translation
            .iter()
            .flat_map(Translation::losses)
            .map(TranslationNote::sentence)
            .collect(),
        fields,
    }
}

fn key(field: Field) -> &'static str {
    match field {
        Field::Body => "systemPrompt",
        other => other.key(Dialect::Profile),
    }
}
