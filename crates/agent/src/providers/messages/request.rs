//! Builds the request of the messages format.

use serde_json::{Map, Value, json};

use super::claude::Claude;
use crate::message::{AssistantMessage, Block, ToolDeclaration, ToolResultMessage};
use crate::models::Model;
use crate::providers::Request;
use crate::providers::effort::messages as effort;
use crate::providers::turns::{ContentFormat, Turn, is_own, object, turns};

const CONTENT: ContentFormat = ContentFormat { text, image };

/// Returns the body of a request.
pub(in crate::providers) fn body(request: &Request<'_>) -> Map<String, Value> {
    let model = request.model;
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    set("model", json!(model.id));
    set("stream", json!(true));
    if !request.system.is_empty() {
        set("system", cached(vec![text(request.system)]));
    }
    if !request.tools.is_empty() {
        set("tools", request.tools.iter().map(tool).collect());
    }
    set("messages", Value::Array(messages(request)));
    let limit = request.max_tokens;
    let limit = limit.unwrap_or_else(|| Claude::named(&model.id).max_tokens());
    set("max_tokens", json!(limit));
    body.extend(effort(model, request.thinking));
    body
}

/// Returns the conversation. Anthropic caches up to marks: one mark is after the prompt, and this
/// function sets the other after the last message.
fn messages(request: &Request<'_>) -> Vec<Value> {
    let model = request.model;
    let mut messages = Vec::new();
    for turn in turns(request) {
        match turn {
            Turn::User(blocks) => messages.push(CONTENT.user_message(blocks, model)),
            Turn::Note(text) => messages.push(json!({"role": "user", "content": text})),
            Turn::Answer(answer) => messages.extend(answer_of(answer, model)),
            Turn::Results(results) => {
                let results: Vec<Value> = results.iter().map(|one| result(one, model)).collect();
                messages.push(json!({"role": "user", "content": results}));
            }
        }
    }
    if let Some(last) = messages
        .iter_mut()
        .rfind(|message| message["role"] == "user")
    {
        let content = match last["content"].take() {
            Value::Array(parts) => parts,
            words => vec![text(words.as_str().unwrap_or_default())],
        };
        last["content"] = cached(content);
    }
    messages
}

fn cached(mut parts: Vec<Value>) -> Value {
    if let Some(last) = parts.last_mut() {
        last["cache_control"] = json!({"type": "ephemeral"});
    }
    Value::Array(parts)
}

/// Thoughts go before everything else, as the format wants it.
fn answer_of(answer: &AssistantMessage, model: &Model) -> Option<Value> {
    let is_own = is_own(answer, model);
    let mut parts: Vec<Value> = Vec::new();
    if is_own {
        parts.extend(answer.content.iter().filter_map(thought));
    }
    let thoughts = parts.len();
    for block in &answer.content {
        match block {
            Block::Text { text: words, .. } if !words.is_empty() => parts.push(text(words)),
            Block::ToolCall(call) => parts.push(json!({
                "type": "tool_use", "id": call_id(&call.id), "name": call.name,
                "input": object(&call.arguments)})),
            Block::Text { .. } | Block::Thinking { .. } | Block::Image { .. } | Block::Other(_) => {
            }
        }
    }
    if parts.len() == thoughts {
        return None;
    }
    let content = match parts.as_slice() {
        [only] if only["type"] == "text" => only["text"].clone(),
        _ => Value::Array(parts),
    };
    Some(json!({"role": "assistant", "content": content}))
}

/// Returns a thought for the model, if it can prove that it came from the same model.
fn thought(block: &Block) -> Option<Value> {
    let Block::Thinking {
        thinking,
        thinking_signature: Some(signature),
        redacted,
    } = block
    else {
        return None;
    };
    if *redacted {
        return Some(json!({"type": "redacted_thinking", "data": signature}));
    }
    let is_whole = !thinking.is_empty();
    is_whole.then(|| json!({"type": "thinking", "thinking": thinking, "signature": signature}))
}

fn result(result: &ToolResultMessage, model: &Model) -> Value {
    let mut content = CONTENT.parts(&result.content, model);
    // The format takes no empty text.
    content.retain(|part| part["text"] != "");
    json!({"type": "tool_result", "tool_use_id": call_id(&result.tool_call_id),
           "content": content, "is_error": result.is_error})
}

/// Converts an id of another format to a form that this format takes.
fn call_id(id: &str) -> String {
    let allowed = |one: char| match one {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => one,
        _ => '_',
    };
    id.chars().take(64).map(allowed).collect()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image(kind: &str, data: &str) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": kind, "data": data}})
}

fn tool(tool: &ToolDeclaration) -> Value {
    json!({"name": tool.name, "input_schema": tool.parameters, "description": tool.description})
}
