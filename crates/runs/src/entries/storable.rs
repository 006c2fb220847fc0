//! A message of pi, cut to a size that a session can carry for ever.

use std::mem;

use pi_subagents_vocabulary::FINALIZE_TOOL;
use pi_subagents_vocabulary::text::cut_bytes;
use serde_json::{Map, Value, json};

/// The number of bytes that are kept of a text of a model or a person.
const TEXT_BYTES: usize = 100_000;

/// The number of bytes that are kept of a tool's result, of a thought, and of each text among a
/// call's arguments.
const BULK_BYTES: usize = 2_000;

/// A part of a kind we do not know is kept up to this size in bytes.
const UNKNOWN_BYTES: usize = 4_000;

/// Cuts a very long text of a person.
pub(crate) fn storable_text(text: &str) -> String {
    cut_bytes(text.to_owned(), TEXT_BYTES)
}

/// Returns the message without pictures, signatures and details, with its long texts cut.
pub(crate) fn storable(mut message: Value) -> Value {
    let is_result = message.get("role").is_some_and(|role| role == "toolResult");
    let limit = if is_result { BULK_BYTES } else { TEXT_BYTES };
    if let Value::Object(fields) = &mut message {
        // The details of a report are the report.
        if fields
            .get("toolName")
            .is_none_or(|tool| tool != FINALIZE_TOOL)
        {
            fields.remove("details");
        }
        match fields.get_mut("content") {
            Some(Value::String(text)) => *text = cut_bytes(mem::take(text), limit),
            Some(Value::Array(parts)) => {
                let kept = parts.drain(..).filter_map(|part| part_kept(part, limit));
                *parts = kept.collect();
            }
            Some(_) | None => {}
        }
    }
    message
}

fn part_kept(mut part: Value, limit: usize) -> Option<Value> {
    let kind = part.get("type")?.as_str()?.to_owned();
    match (kind.as_str(), &mut part) {
        ("text", Value::Object(fields)) => {
            fields.remove("textSignature");
            cut_field(fields, "text", limit);
        }
        ("thinking", Value::Object(fields)) => {
            fields.remove("thinkingSignature");
            cut_field(fields, "thinking", BULK_BYTES);
        }
        ("toolCall", Value::Object(fields)) => {
            fields.remove("thoughtSignature");
            if let Some(arguments) = fields.get_mut("arguments") {
                cut_texts(arguments);
            }
        }
        ("image", part) => {
            let mime_type = part.get("mimeType").and_then(Value::as_str);
            let text = format!("[image: {}]", mime_type.unwrap_or("unknown"));
            return Some(json!({"type": "text", "text": text}));
        }
        (_, part) if part.to_string().len() > UNKNOWN_BYTES => return None,
        _ => {}
    }
    Some(part)
}

fn cut_field(fields: &mut Map<String, Value>, name: &str, limit: usize) {
    if let Some(Value::String(text)) = fields.get_mut(name) {
        *text = cut_bytes(mem::take(text), limit);
    }
}

fn cut_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = cut_bytes(mem::take(text), BULK_BYTES),
        Value::Array(parts) => parts.iter_mut().for_each(cut_texts),
        Value::Object(fields) => fields.values_mut().for_each(cut_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_message_keeps_its_shape_and_loses_its_bulk() {
        let long = "x".repeat(3_000);
        let cut = cut_bytes(long.clone(), BULK_BYTES);
        assert!(cut.len() < 2_100, "{}", cut.len());
        let result = json!({
            "role": "toolResult", "toolCallId": "c", "toolName": "read", "isError": false,
            "content": [{"type": "text", "text": long}, {"type": "image", "data": long, "mimeType": "image/png"}],
            "details": {"truncation": {"content": long}},
        });
        assert_eq!(
            storable(result),
            json!({
                "role": "toolResult", "toolCallId": "c", "toolName": "read", "isError": false,
                "content": [{"type": "text", "text": cut}, {"type": "text", "text": "[image: image/png]"}],
            })
        );
        let answer = json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": long, "thinkingSignature": long},
            {"type": "text", "text": long},
            {"type": "toolCall", "id": "c", "name": "write", "arguments": {"path": 5, "content": [long]}},
            {"type": "surprise", "data": long.repeat(2)},
            7,
        ]});
        assert_eq!(
            storable(answer),
            json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": cut},
                {"type": "text", "text": long},
                {"type": "toolCall", "id": "c", "name": "write", "arguments": {"path": 5, "content": [cut]}},
            ]})
        );
    }
}
