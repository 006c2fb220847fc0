//! The answer to a line that is JSON but no message.
//!
//! A client that gave an id waits for an answer and gets one. A line without an id is skipped: it may be
//! a notification, and two sides that answer each other's garbage never stop.

use rmcp::model::ErrorCode;
use serde_json::Value;

use super::error_line;

/// Returns the answers to a line that the library cannot read, each as a line.
pub(super) fn answers(line: &[u8]) -> Vec<Vec<u8>> {
    match serde_json::from_slice(line) {
        Ok(Value::Array(batch)) => batch.iter().filter_map(of_batch).collect(),
        Ok(message) => of_message(&message).into_iter().collect(),
        Err(_) => Vec::new(),
    }
}

/// Refuses a request of a batch: only one old version of the protocol had batches.
fn of_batch(message: &Value) -> Option<Vec<u8>> {
    let id = message
        .get("id")
        .filter(|_| message.get("method").is_some())?;
    let text = "Batches are not served: send each request in a line of its own.";
    Some(error_line(id, ErrorCode::INVALID_REQUEST.0, text))
}

fn of_message(message: &Value) -> Option<Vec<u8>> {
    let id = message.get("id")?;
    let is_answer = message.get("result").is_some() || message.get("error").is_some();
    let is_id = id.is_string() || id.is_i64();
    match message.get("method").and_then(Value::as_str) {
        None if is_answer => None,
        Some(method) if is_id && message["jsonrpc"] == "2.0" => {
            let text = format!("The params of {method} do not fit: they are an object.");
            Some(error_line(id, ErrorCode::INVALID_PARAMS.0, &text))
        }
        Some(_) | None => {
            let text = "This is no request: it needs jsonrpc \"2.0\", an id (a text or a whole number) and a method.";
            Some(error_line(id, ErrorCode::INVALID_REQUEST.0, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(line: &str) -> Vec<(Value, Value)> {
        let lines = answers(line.as_bytes()).into_iter();
        lines
            .map(|line| serde_json::from_slice::<Value>(&line).unwrap())
            .map(|answer| (answer["id"].clone(), answer["error"]["code"].clone()))
            .collect()
    }

    #[test]
    fn whoever_gave_an_id_is_answered_with_it() {
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"n"},
            {"jsonrpc":"2.0","id":"two","method":"ping"},{"id":3,"result":{}},4]"#;
        assert_eq!(
            answered(batch),
            [(1.into(), (-32600).into()), ("two".into(), (-32600).into())]
        );
        let one = |line| answered(line).pop();
        assert_eq!(
            one(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":3}}"#),
            Some((1.into(), (-32602).into()))
        );
        assert_eq!(
            one(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#),
            Some((1.into(), (-32600).into()))
        );
        assert_eq!(
            one(r#"{"jsonrpc":"2.0","id":9}"#),
            Some((9.into(), (-32600).into()))
        );
        assert_eq!(
            one(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
            Some((Value::Null, (-32600).into()))
        );
    }

    #[test]
    fn what_has_no_id_is_passed_over() {
        for line in [
            "[]",
            "null",
            "{}",
            "no JSON",
            r#"{"id":1,"result":3}"#,
            r#"{"method":"n"}"#,
        ] {
            assert_eq!(answered(line), [], "{line}");
        }
    }
}
