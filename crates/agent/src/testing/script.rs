//! Scripts for the scripted model.

use serde_json::{Value, json};

/// Returns a script that plays these turns for every prompt.
pub(crate) fn script(turns: &Value) -> Value {
    json!({"rules": [{"turns": turns}]})
}

/// Returns a script that repeats its prompt.
pub(crate) fn echo() -> Value {
    script(&json!([{"text": "You said {{prompt}}."}]))
}

/// Returns a call of a tool in a turn of a script.
pub(crate) fn tool_call(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments})
}
