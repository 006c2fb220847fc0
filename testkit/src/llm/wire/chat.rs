//! OpenAI chat completions.

use serde_json::{Value, json};

use super::{CREATED, Exchange, data};
use crate::llm::turn::{StopReason, Usage};

/// Returns the frames of a streamed answer, with the usage at the end and `[DONE]`.
pub(super) fn frames(exchange: &Exchange<'_>) -> Vec<String> {
    let turn = exchange.turn;
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    for piece in turn
        .pieces(&turn.thinking)
        .iter()
        .filter(|piece| !piece.is_empty())
    {
        deltas.push(json!({"reasoning_content": piece}));
    }
    for piece in turn
        .pieces(&turn.text)
        .iter()
        .filter(|piece| !piece.is_empty())
    {
        deltas.push(json!({"content": piece}));
    }
    for (index, call) in turn.tool_calls.iter().enumerate() {
        deltas.push(json!({"tool_calls": [{
            "index": index,
            "id": exchange.call_id(index),
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }]}));
        for piece in turn.pieces(&call.arguments.to_string()) {
            deltas.push(json!({"tool_calls": [{
                "index": index,
                "function": {"arguments": piece},
            }]}));
        }
    }
    let mut frames: Vec<String> = deltas
        .iter()
        .map(|delta| {
            chunk(
                exchange,
                &json!([{"index": 0, "delta": delta, "finish_reason": null}]),
            )
        })
        .collect();
    let finish = finish_reason(turn.stop_reason());
    frames.push(chunk(
        exchange,
        &json!([{"index": 0, "delta": {}, "finish_reason": finish}]),
    ));
    let mut last = envelope(exchange, "chat.completion.chunk", &json!([]));
    last["usage"] = usage(&turn.usage);
    frames.push(data(&last));
    frames.push("data: [DONE]\n\n".to_owned());
    frames
}

/// Returns the answer as one JSON value.
pub(super) fn whole(exchange: &Exchange<'_>) -> Value {
    let turn = exchange.turn;
    let mut message = json!({"role": "assistant", "content": turn.text});
    if !turn.thinking.is_empty() {
        message["reasoning_content"] = json!(turn.thinking);
    }
    if !turn.tool_calls.is_empty() {
        message["tool_calls"] = turn
            .tool_calls
            .iter()
            .enumerate()
            .map(|(index, call)| {
                json!({
                    "id": exchange.call_id(index),
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments.to_string()},
                })
            })
            .collect();
    }
    let finish = finish_reason(turn.stop_reason());
    let choices = json!([{"index": 0, "message": message, "finish_reason": finish}]);
    let mut whole = envelope(exchange, "chat.completion", &choices);
    whole["usage"] = usage(&turn.usage);
    whole
}

/// Returns the body of an HTTP error, also of the responses format.
pub(super) fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        429 => "rate_limit_error",
        _ => "server_error",
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
}

fn chunk(exchange: &Exchange<'_>, choices: &Value) -> String {
    data(&envelope(exchange, "chat.completion.chunk", choices))
}

fn envelope(exchange: &Exchange<'_>, object: &str, choices: &Value) -> Value {
    json!({
        "id": format!("chatcmpl-{}", exchange.number),
        "object": object,
        "created": CREATED,
        "model": exchange.model,
        "choices": choices,
    })
}

fn finish_reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::Stop => "stop",
        StopReason::Length => "length",
        StopReason::ToolUse => "tool_calls",
        StopReason::ContentFilter => "content_filter",
    }
}

fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt(),
        "completion_tokens": usage.output,
        "total_tokens": usage.prompt() + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}
