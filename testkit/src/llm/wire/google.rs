//! Google generative AI.

use serde_json::{Value, json};

use super::{Exchange, data};
use crate::llm::turn::{StopReason, Usage};

/// Returns the frames of a streamed answer; the last frame has the reason of the stop and the
/// usage.
pub(super) fn frames(exchange: &Exchange<'_>) -> Vec<String> {
    let mut parts = parts(exchange);
    let last = parts.pop().unwrap_or_else(|| json!({"text": ""}));
    let mut frames: Vec<String> = parts
        .into_iter()
        .map(|part| data(&response(exchange, &[part])))
        .collect();
    frames.push(data(&ended(exchange, &[last])));
    frames
}

/// Returns the answer as one JSON value.
pub(super) fn whole(exchange: &Exchange<'_>) -> Value {
    ended(exchange, &parts(exchange))
}

/// Returns the body of an HTTP error.
pub(super) fn error(status: u16, message: &str) -> Value {
    let word = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    json!({"error": {"code": status, "message": message, "status": word}})
}

/// Returns the model in `…/models/{model}:streamGenerateContent`.
pub(super) fn model(path: &str) -> String {
    let (before, _) = path.rsplit_once(':').unwrap_or((path, ""));
    let (_, model) = before.rsplit_once('/').unwrap_or(("", before));
    model.to_owned()
}

fn parts(exchange: &Exchange<'_>) -> Vec<Value> {
    let turn = exchange.turn;
    let mut parts = Vec::new();
    for piece in turn
        .pieces(&turn.thinking)
        .iter()
        .filter(|piece| !piece.is_empty())
    {
        parts.push(json!({"text": piece, "thought": true}));
    }
    for piece in turn
        .pieces(&turn.text)
        .iter()
        .filter(|piece| !piece.is_empty())
    {
        parts.push(json!({"text": piece}));
    }
    for (index, call) in turn.tool_calls.iter().enumerate() {
        parts.push(json!({"functionCall": {
            "id": exchange.call_id(index),
            "name": call.name,
            "args": call.arguments,
        }}));
    }
    parts
}

fn response(exchange: &Exchange<'_>, parts: &[Value]) -> Value {
    json!({
        "candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}],
        "modelVersion": exchange.model,
        "responseId": format!("response-{}", exchange.number),
    })
}

fn ended(exchange: &Exchange<'_>, parts: &[Value]) -> Value {
    let mut last = response(exchange, parts);
    last["candidates"][0]["finishReason"] = json!(finish_reason(exchange.turn.stop_reason()));
    last["usageMetadata"] = usage(&exchange.turn.usage);
    last
}

fn finish_reason(stop: StopReason) -> &'static str {
    match stop {
        // Google has no word of its own for a stop to call tools.
        StopReason::Stop | StopReason::ToolUse => "STOP",
        StopReason::Length => "MAX_TOKENS",
        StopReason::ContentFilter => "SAFETY",
    }
}

fn usage(usage: &Usage) -> Value {
    json!({
        "promptTokenCount": usage.prompt(),
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.prompt() + usage.output,
    })
}
