//! Fits a call's arguments to its schema as pi does: harmless differences are converted,
//! the rest is reported so that the model can correct itself.

use serde_json::{Map, Value};

use super::ToolError;
use crate::message::ToolCall;

/// Returns `arguments` converted to `schema`, or pi's "Validation failed" text.
pub(super) fn fit(
    call: &ToolCall,
    schema: &Value,
    mut arguments: Value,
) -> Result<Value, ToolError> {
    let mut faults = Vec::new();
    check(schema, &mut arguments, "", &mut faults);
    if faults.is_empty() {
        return Ok(arguments);
    }
    let received = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
    Err(ToolError::new(format!(
        "Validation failed for tool \"{}\":\n{}\n\nReceived arguments:\n{received}",
        call.name,
        faults.join("\n"),
    )))
}

fn check(schema: &Value, value: &mut Value, path: &str, faults: &mut Vec<String>) {
    match schema["type"].as_str() {
        Some("object") => check_object(schema, value, path, faults),
        Some("array") => check_array(schema, value, path, faults),
        Some("string") => check_string(schema, value, path, faults),
        Some("number") => {
            convert_number(value);
            expect(value.is_number(), path, "must be number", faults);
        }
        Some("boolean") => {
            convert_boolean(value);
            expect(value.is_boolean(), path, "must be boolean", faults);
        }
        _ => {}
    }
}

fn check_object(schema: &Value, value: &mut Value, path: &str, faults: &mut Vec<String>) {
    let Value::Object(fields) = value else {
        return expect(false, path, "must be object", faults);
    };
    let required = required(schema);
    // A null for something optional means that it was left out.
    fields.retain(|name, field| !field.is_null() || required.contains(&name.as_str()));
    let missing: Vec<&str> = required
        .iter()
        .copied()
        .filter(|name| !fields.contains_key(*name))
        .collect();
    if let Some(first) = missing.first() {
        let text = format!("must have required properties {}", missing.join(", "));
        expect(false, &joined(path, first), &text, faults);
    }
    check_fields(schema, fields, path, faults);
}

fn check_fields(
    schema: &Value,
    fields: &mut Map<String, Value>,
    path: &str,
    faults: &mut Vec<String>,
) {
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    for (name, property) in properties {
        if let Some(field) = fields.get_mut(name) {
            check(property, field, &joined(path, name), faults);
        }
    }
}

fn check_array(schema: &Value, value: &mut Value, path: &str, faults: &mut Vec<String>) {
    if !value.is_array() {
        *value = Value::Array(vec![value.take()]);
    }
    for (index, item) in value.as_array_mut().into_iter().flatten().enumerate() {
        check(
            &schema["items"],
            item,
            &joined(path, &index.to_string()),
            faults,
        );
    }
}

fn check_string(schema: &Value, value: &mut Value, path: &str, faults: &mut Vec<String>) {
    if matches!(value, Value::Number(_) | Value::Bool(_) | Value::Null) {
        *value = Value::String(value.to_string());
    }
    match schema["enum"].as_array() {
        Some(allowed) => expect(
            allowed.contains(value),
            path,
            "must be equal to one of the allowed values",
            faults,
        ),
        None => expect(value.is_string(), path, "must be string", faults),
    }
}

fn convert_number(value: &mut Value) {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        _ => None,
    };
    if let Some(number) = number.and_then(serde_json::Number::from_f64) {
        *value = Value::Number(number);
    }
}

fn convert_boolean(value: &mut Value) {
    let flag = match value {
        Value::String(text) => match text.to_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
        Value::Number(number) => match number.as_f64() {
            Some(1.0) => Some(true),
            Some(0.0) => Some(false),
            _ => None,
        },
        _ => None,
    };
    if let Some(flag) = flag {
        *value = Value::Bool(flag);
    }
}

fn required(schema: &Value) -> Vec<&str> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn expect(holds: bool, path: &str, text: &str, faults: &mut Vec<String>) {
    if !holds {
        let path = if path.is_empty() { "root" } else { path };
        faults.push(format!("  - {path}: {text}"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::find_tool;
    use super::*;
    use serde_json::json;

    fn fitted(tool: &str, arguments: Value) -> String {
        let call = ToolCall {
            id: "1".to_owned(),
            name: tool.to_owned(),
            arguments: arguments.clone(),
            ..ToolCall::default()
        };
        let schema = find_tool(tool).unwrap().parameters();
        match fit(&call, &schema, arguments) {
            Ok(arguments) => arguments.to_string(),
            Err(error) => error.to_string().split("\n\n").next().unwrap().to_owned(),
        }
    }

    /// Shows the conversion of arguments. Each line was compared with the conversion of the same
    /// arguments by pi 0.87.1.
    #[test]
    fn arguments_are_converted_or_refused_as_pi_does() {
        let cases = [
            ("read", json!({})),
            ("read", json!({"path": 5, "offset": "7", "limit": null})),
            ("read", json!({"path": ["a"]})),
            ("read", json!({"path": "a", "offset": "x"})),
            ("read", json!("text")),
            ("read", Value::Null),
            ("edit", json!({})),
            ("edit", json!({"path": "a", "edits": [{}]})),
            ("edit", json!({"path": "a", "edits": "no"})),
            (
                "grep",
                json!({"pattern": "x", "ignoreCase": "true", "literal": 1}),
            ),
            ("grep", json!({"pattern": "x", "ignoreCase": "yes"})),
            ("subagent_finalize", json!({"status": "DONE"})),
        ];
        let report: Vec<String> = cases
            .map(|(tool, arguments)| fitted(tool, arguments))
            .into();
        insta::assert_snapshot!(report.join("\n"), @r#"
        Validation failed for tool "read":
          - path: must have required properties path
        {"path":"5","offset":7.0}
        Validation failed for tool "read":
          - path: must be string
        Validation failed for tool "read":
          - offset: must be number
        Validation failed for tool "read":
          - root: must be object
        Validation failed for tool "read":
          - root: must be object
        Validation failed for tool "edit":
          - path: must have required properties path, edits
        Validation failed for tool "edit":
          - edits.0.oldText: must have required properties oldText, newText
        Validation failed for tool "edit":
          - edits.0: must be object
        {"pattern":"x","ignoreCase":true,"literal":true}
        Validation failed for tool "grep":
          - ignoreCase: must be boolean
        Validation failed for tool "subagent_finalize":
          - status: must be equal to one of the allowed values
        "#);
    }
}
