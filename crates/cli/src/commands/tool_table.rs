//! The fields of a tool as a table for people. Models get the same as a JSON schema.

use serde_json::{Map, Value};

/// A field with its path, such as `tasks[].prompt`.
#[derive(Debug, PartialEq, Eq)]
struct FieldRow {
    path: String,
    kind: String,
    meaning: String,
}

/// Returns the fields of a schema as a table in Markdown.
pub(super) fn table(schema: &Value) -> String {
    let mut rows = Vec::new();
    add_rows(schema, "", &mut rows);
    if rows.is_empty() {
        return "It has no fields.\n".to_owned();
    }
    let lines = rows
        .iter()
        .map(|row| format!("| `{}` | {} | {} |\n", row.path, row.kind, row.meaning));
    format!(
        "| field | type | meaning |\n|---|---|---|\n{}",
        lines.collect::<String>()
    )
}

/// Adds the fields of an object, and below each field the fields inside it.
fn add_rows(schema: &Value, before: &str, rows: &mut Vec<FieldRow>) {
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    for (name, field) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        let path = format!("{before}{name}");
        let description = field["description"].as_str().unwrap_or_default();
        let is_required = required.iter().any(|one| one == name);
        let meaning = format!(
            "{}{description}",
            if is_required { "Required. " } else { "" }
        );
        rows.push(FieldRow {
            path: path.clone(),
            kind: kind(field),
            meaning: meaning.trim().replace('|', "\\|"),
        });
        add_rows(field, &format!("{path}."), rows);
        let items = &field["items"];
        for item in std::iter::once(items).chain(items["anyOf"].as_array().into_iter().flatten()) {
            add_rows(item, &format!("{path}[]."), rows);
        }
    }
}

/// Returns the type of a field in words.
fn kind(field: &Value) -> String {
    if let Some(words) = field["enum"].as_array() {
        let words = words.iter().filter_map(Value::as_str);
        return words
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    if let Some(kinds) = field["anyOf"].as_array() {
        return kinds.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match field["type"].as_str() {
        Some("string") => "text".to_owned(),
        Some("integer") => "whole number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => format!("list of {}", kind(&field["items"])),
        Some(other) => other.to_owned(),
        None => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_inside_another_has_its_path() {
        let schema = json!({
            "properties": {
                "tasks": {
                    "type": "array",
                    "description": "1 to 16 tasks.",
                    "items": {"type": "object", "required": ["prompt"], "properties": {
                        "prompt": {"type": "string", "description": "The task."},
                        "gate": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                        "isolation": {"type": "string", "enum": ["none", "worktree"]}
                    }}
                },
                "wait": {"type": "boolean"}
            },
            "required": ["tasks"]
        });
        insta::assert_snapshot!(table(&schema), @"
        | field | type | meaning |
        |---|---|---|
        | `tasks` | list of object | Required. 1 to 16 tasks. |
        | `tasks[].prompt` | text | Required. The task. |
        | `tasks[].gate` | text or list of text |  |
        | `tasks[].isolation` | `none`, `worktree` |  |
        | `wait` | true or false |  |
        ");
        assert_eq!(table(&json!({"type": "object"})), "It has no fields.\n");
    }
}
