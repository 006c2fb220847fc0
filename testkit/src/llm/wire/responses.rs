//! OpenAI responses.

use serde_json::{Value, json};

use super::{CREATED, Exchange, event};
use crate::llm::turn::{StopReason, Usage};

/// Returns the frames of a streamed answer.
pub(super) fn frames(exchange: &Exchange<'_>) -> Vec<String> {
    let mut started = envelope(exchange, "in_progress");
    started["output"] = json!([]);
    let mut events = vec![
        json!({"type": "response.created", "response": started}),
        json!({"type": "response.in_progress", "response": started}),
    ];
    for (index, item) in items(exchange).iter().enumerate() {
        events.extend(item_events(exchange, index, item));
    }
    let last = whole(exchange);
    let name = match last["status"].as_str() {
        Some("incomplete") => "response.incomplete",
        _ => "response.completed",
    };
    events.push(json!({"type": name, "response": last}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events.iter().map(event).collect()
}

/// Returns the answer as one JSON value.
pub(super) fn whole(exchange: &Exchange<'_>) -> Value {
    let incomplete = match exchange.turn.stop_reason() {
        StopReason::Stop | StopReason::ToolUse => None,
        StopReason::Length => Some("max_output_tokens"),
        StopReason::ContentFilter => Some("content_filter"),
    };
    let status = if incomplete.is_some() {
        "incomplete"
    } else {
        "completed"
    };
    let mut whole = envelope(exchange, status);
    whole["incomplete_details"] =
        incomplete.map_or(Value::Null, |reason| json!({"reason": reason}));
    whole["output"] = Value::Array(items(exchange));
    whole["usage"] = usage(&exchange.turn.usage);
    whole
}

fn envelope(exchange: &Exchange<'_>, status: &str) -> Value {
    json!({
        "id": format!("resp_{}", exchange.number),
        "object": "response",
        "created_at": CREATED,
        "model": exchange.model,
        "status": status,
        "error": null,
        "incomplete_details": null,
    })
}

/// Returns the finished items of the output.
fn items(exchange: &Exchange<'_>) -> Vec<Value> {
    let (turn, number) = (exchange.turn, exchange.number);
    let mut items = Vec::new();
    if !turn.thinking.is_empty() {
        items.push(json!({
            "id": format!("rs_{number}"),
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": turn.thinking}],
        }));
    }
    if !turn.text.is_empty() {
        items.push(json!({
            "id": format!("msg_{number}"),
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": turn.text, "annotations": []}],
        }));
    }
    for (index, call) in turn.tool_calls.iter().enumerate() {
        items.push(json!({
            "id": format!("fc_{number}_{}", index + 1),
            "type": "function_call",
            "status": "completed",
            "call_id": exchange.call_id(index),
            "name": call.name,
            "arguments": call.arguments.to_string(),
        }));
    }
    items
}

/// Returns the events by which an item comes into being.
fn item_events(exchange: &Exchange<'_>, index: usize, item: &Value) -> Vec<Value> {
    let shape = match item["type"].as_str() {
        Some("reasoning") => Shape {
            opening: [
                "summary",
                "response.reasoning_summary_part.added",
                "summary_index",
            ],
            text: "response.reasoning_summary_text",
            closing: "response.reasoning_summary_part.done",
        },
        Some("message") => Shape {
            opening: ["content", "response.content_part.added", "content_index"],
            text: "response.output_text",
            closing: "response.content_part.done",
        },
        _ => return call_events(exchange, index, item),
    };
    part_events(exchange, index, item, &shape)
}

/// The names that differ between the parts of a message and of reasoning.
struct Shape {
    /// The field of the parts, the event that opens a part, the name of its index.
    opening: [&'static str; 3],
    /// The stem of the `.delta` and `.done` events.
    text: &'static str,
    /// The event that closes a part.
    closing: &'static str,
}

fn part_events(exchange: &Exchange<'_>, index: usize, item: &Value, shape: &Shape) -> Vec<Value> {
    let [parts, opened, part_index] = shape.opening;
    let part = &item[parts][0];
    let text = part["text"].as_str().unwrap_or_default();
    let mut empty_item = item.clone();
    empty_item[parts] = json!([]);
    mark_in_progress(&mut empty_item);
    let mut empty_part = part.clone();
    empty_part["text"] = json!("");
    let at = |kind: String, key: &str, value: Value| json!({"type": kind, "item_id": item["id"], "output_index": index, part_index: 0, key: value});
    let mut events = vec![
        added(index, &empty_item),
        at(opened.to_owned(), "part", empty_part),
    ];
    for piece in exchange.turn.pieces(text) {
        events.push(at(format!("{}.delta", shape.text), "delta", json!(piece)));
    }
    events.push(at(format!("{}.done", shape.text), "text", json!(text)));
    events.push(at(shape.closing.to_owned(), "part", part.clone()));
    events.push(done(index, item));
    events
}

fn call_events(exchange: &Exchange<'_>, index: usize, item: &Value) -> Vec<Value> {
    let arguments = item["arguments"].as_str().unwrap_or_default();
    let mut empty_item = item.clone();
    empty_item["arguments"] = json!("");
    mark_in_progress(&mut empty_item);
    let at = |kind: &str, key: &str, value: &str| json!({"type": kind, "item_id": item["id"], "output_index": index, key: value});
    let mut events = vec![added(index, &empty_item)];
    for piece in exchange.turn.pieces(arguments) {
        events.push(at(
            "response.function_call_arguments.delta",
            "delta",
            &piece,
        ));
    }
    events.push(at(
        "response.function_call_arguments.done",
        "arguments",
        arguments,
    ));
    events.push(done(index, item));
    events
}

fn mark_in_progress(item: &mut Value) {
    if !item["status"].is_null() {
        item["status"] = json!("in_progress");
    }
}

fn added(index: usize, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: usize, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.prompt(),
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.prompt() + usage.output,
    })
}
