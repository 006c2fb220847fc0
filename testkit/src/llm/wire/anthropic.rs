//! Anthropic messages.

use serde_json::{Value, json};

use super::{Exchange, event};
use crate::llm::turn::StopReason;

/// Returns the frames of a streamed answer.
pub(super) fn frames(exchange: &Exchange<'_>) -> Vec<String> {
    let turn = exchange.turn;
    let mut start = envelope(exchange);
    start["usage"] = usage(exchange, 1);
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in blocks(exchange).iter().enumerate() {
        events.extend(block_events(exchange, index, block));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(turn.stop_reason()), "stop_sequence": null},
        "usage": usage(exchange, turn.usage.output),
    }));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(event).collect()
}

/// Returns the answer as one JSON value.
pub(super) fn whole(exchange: &Exchange<'_>) -> Value {
    let mut whole = envelope(exchange);
    whole["content"] = Value::Array(blocks(exchange));
    whole["stop_reason"] = json!(stop_reason(exchange.turn.stop_reason()));
    whole["usage"] = usage(exchange, exchange.turn.usage.output);
    whole
}

/// Returns the body of an HTTP error.
pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn envelope(exchange: &Exchange<'_>) -> Value {
    json!({
        "id": format!("msg_{}", exchange.number),
        "type": "message",
        "role": "assistant",
        "model": exchange.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
    })
}

/// Returns the finished blocks of the content.
fn blocks(exchange: &Exchange<'_>) -> Vec<Value> {
    let turn = exchange.turn;
    let mut blocks = Vec::new();
    if !turn.thinking.is_empty() {
        blocks.push(json!({
            "type": "thinking",
            "thinking": turn.thinking,
            "signature": "c2lnbmVk",
        }));
    }
    if !turn.text.is_empty() {
        blocks.push(json!({"type": "text", "text": turn.text}));
    }
    for (index, call) in turn.tool_calls.iter().enumerate() {
        blocks.push(json!({
            "type": "tool_use",
            "id": exchange.call_id(index),
            "name": call.name,
            "input": call.arguments,
        }));
    }
    blocks
}

/// Returns the events by which a block comes into being.
fn block_events(exchange: &Exchange<'_>, index: usize, block: &Value) -> Vec<Value> {
    let mut empty = block.clone();
    let mut deltas = Vec::new();
    match block["type"].as_str() {
        Some("tool_use") => {
            empty["input"] = json!({});
            for piece in exchange.turn.pieces(&block["input"].to_string()) {
                deltas.push(json!({"type": "input_json_delta", "partial_json": piece}));
            }
        }
        Some("thinking") => {
            empty["thinking"] = json!("");
            empty["signature"] = json!("");
            for piece in exchange.turn.pieces(&exchange.turn.thinking) {
                deltas.push(json!({"type": "thinking_delta", "thinking": piece}));
            }
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
        }
        _ => {
            empty["text"] = json!("");
            for piece in exchange.turn.pieces(&exchange.turn.text) {
                deltas.push(json!({"type": "text_delta", "text": piece}));
            }
        }
    }
    let mut events =
        vec![json!({"type": "content_block_start", "index": index, "content_block": empty})];
    for delta in deltas {
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn stop_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Stop => "end_turn",
        StopReason::Length => "max_tokens",
        StopReason::ToolUse => "tool_use",
        StopReason::ContentFilter => "refusal",
    }
}

fn usage(exchange: &Exchange<'_>, output: u64) -> Value {
    let usage = &exchange.turn.usage;
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": output,
    })
}
