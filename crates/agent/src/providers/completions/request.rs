//! Builds the request of a chat completion.

use serde_json::{Map, Value, json};

use crate::message::{AssistantMessage, Block, ToolDeclaration, joined_text};
use crate::models::Model;
use crate::providers::Request;
use crate::providers::effort::completions as effort;
use crate::providers::turns::{ContentFormat, Turn, is_own, object, turns};

const CONTENT: ContentFormat = ContentFormat { text, image };

/// Returns the body of a request.
pub(in crate::providers) fn body(request: &Request<'_>) -> Map<String, Value> {
    let model = request.model;
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    set("model", json!(model.id));
    set("stream", json!(true));
    // Servers cache a request by its beginning, and tools change more rarely than messages.
    if !request.tools.is_empty() {
        set("tools", request.tools.iter().map(tool).collect());
    }
    set("messages", Value::Array(messages(request)));
    set("stream_options", json!({"include_usage": true}));
    if let Some(tokens) = request.max_tokens {
        set(max_tokens_field(model), json!(tokens));
    }
    body.extend(effort(model, request.thinking));
    body
}

/// Returns the field that limits the answer: OpenAI's newer models refuse the old name, and many
/// other servers do not know the new one.
fn max_tokens_field(model: &Model) -> &str {
    let newer = ["gpt-5", "gpt-6", "o1", "o3", "o4"];
    match &model.compat.max_tokens_field {
        Some(named) => named,
        None if newer.iter().any(|name| model.id.starts_with(name)) => "max_completion_tokens",
        None => "max_tokens",
    }
}

fn messages(request: &Request<'_>) -> Vec<Value> {
    let model = request.model;
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    for turn in turns(request) {
        match turn {
            Turn::User(blocks) => messages.push(CONTENT.user_message(blocks, model)),
            Turn::Note(text) => messages.push(json!({"role": "user", "content": text})),
            Turn::Answer(answer) => messages.extend(answer_of(answer, model)),
            Turn::Results(results) => {
                messages.extend(results.iter().map(|result| {
                    json!({"role": "tool", "content": joined_text(&result.content),
                           "tool_call_id": result.tool_call_id})
                }));
                let images = CONTENT.images_of(&results, model);
                messages.extend(images.map(|parts| json!({"role": "user", "content": parts})));
            }
        }
    }
    messages
}

fn answer_of(answer: &AssistantMessage, model: &Model) -> Option<Value> {
    let is_own = is_own(answer, model);
    let (mut texts, mut thoughts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for block in &answer.content {
        match block {
            Block::Text { text, .. } if !text.is_empty() => texts.push(text.as_str()),
            // Some servers want a model's thoughts back, and the others pass over them.
            Block::Thinking {
                thinking,
                redacted: false,
                ..
            } if is_own && !thinking.is_empty() => thoughts.push(thinking.as_str()),
            Block::ToolCall(call) => {
                let arguments = object(&call.arguments).to_string();
                let function = json!({"name": call.name, "arguments": arguments});
                calls.push(json!({"type": "function", "id": call.id, "function": function}));
            }
            Block::Text { .. } | Block::Thinking { .. } | Block::Image { .. } | Block::Other(_) => {
            }
        }
    }
    if texts.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({"role": "assistant", "content": texts.join("\n\n")});
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    if !thoughts.is_empty() {
        message["reasoning_content"] = json!(thoughts.join("\n"));
    }
    Some(message)
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image(kind: &str, data: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": format!("data:{kind};base64,{data}")}})
}

fn tool(tool: &ToolDeclaration) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": tool.parameters,
        "strict": false}})
}
