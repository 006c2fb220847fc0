//! Builds the request of the responses format.

use serde_json::{Map, Value, json};

use crate::message::{AssistantMessage, Block, ToolDeclaration, joined_text};
use crate::models::Model;
use crate::providers::Request;
use crate::providers::effort::responses as effort;
use crate::providers::turns::{ContentFormat, Turn, is_own, object, turns};

const CONTENT: ContentFormat = ContentFormat { text, image };

/// Returns the body of a request.
pub(in crate::providers) fn body(request: &Request<'_>) -> Map<String, Value> {
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    set("store", json!(false));
    set("model", json!(request.model.id));
    set("stream", json!(true));
    if !request.system.is_empty() {
        set("instructions", json!(request.system));
    }
    if !request.tools.is_empty() {
        set("tools", request.tools.iter().map(tool).collect());
    }
    set("input", Value::Array(input(request)));
    if let Some(tokens) = request.max_tokens {
        set("max_output_tokens", json!(tokens));
    }
    body.extend(effort(request.model, request.thinking));
    body
}

fn input(request: &Request<'_>) -> Vec<Value> {
    let model = request.model;
    let mut items = Vec::new();
    for turn in turns(request) {
        match turn {
            Turn::User(blocks) => items.push(CONTENT.user_message(blocks, model)),
            Turn::Note(text) => items.push(json!({"role": "user", "content": text})),
            Turn::Answer(answer) => answer_of(answer, model, &mut items),
            Turn::Results(results) => {
                items.extend(results.iter().map(|result| {
                    json!({"type": "function_call_output", "call_id": call_id(&result.tool_call_id),
                           "output": joined_text(&result.content)})
                }));
                let images = CONTENT.images_of(&results, model);
                items.extend(images.map(|parts| json!({"role": "user", "content": parts})));
            }
        }
    }
    items
}

/// Adds an answer: its thoughts, then its text, then its calls.
fn answer_of(answer: &AssistantMessage, model: &Model, items: &mut Vec<Value>) {
    let mut blocks = answer.content.iter();
    let says_something = blocks.any(|block| match block {
        Block::Text { text, .. } => !text.is_empty(),
        Block::ToolCall(_) => true,
        Block::Thinking { .. } | Block::Image { .. } | Block::Other(_) => false,
    });
    if !says_something {
        return;
    }
    if is_own(answer, model) {
        let hidden = answer.content.iter().filter_map(encrypted);
        items.extend(hidden.map(
            |hidden| json!({"type": "reasoning", "encrypted_content": hidden, "summary": []}),
        ));
    }
    let mut texts = Vec::new();
    for block in &answer.content {
        match block {
            Block::Text { text, .. } if !text.is_empty() => {
                texts.push(json!({"type": "output_text", "text": text}));
            }
            Block::ToolCall(call) => {
                items.extend(message(&std::mem::take(&mut texts)));
                items.push(
                    json!({"type": "function_call", "call_id": call_id(&call.id),
                    "name": call.name, "arguments": object(&call.arguments).to_string()}),
                );
            }
            Block::Text { .. } | Block::Thinking { .. } | Block::Image { .. } | Block::Other(_) => {
            }
        }
    }
    items.extend(message(&texts));
}

fn message(texts: &[Value]) -> Option<Value> {
    (!texts.is_empty()).then(|| json!({"type": "message", "role": "assistant", "content": texts}))
}

/// Returns the secret part of a reasoning item, which pi and we keep whole.
fn encrypted(block: &Block) -> Option<String> {
    let Block::Thinking {
        thinking_signature: Some(item),
        ..
    } = block
    else {
        return None;
    };
    let item: Value = serde_json::from_str(item).ok()?;
    item["encrypted_content"].as_str().map(str::to_owned)
}

/// Returns the id of a call, behind which pi keeps the id of the item.
fn call_id(id: &str) -> &str {
    id.split('|').next().unwrap_or(id)
}

fn text(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

fn image(kind: &str, data: &str) -> Value {
    json!({"type": "input_image", "detail": "auto", "image_url": format!("data:{kind};base64,{data}")})
}

/// Declares a tool. Strict, the default there, would make every optional argument required.
fn tool(tool: &ToolDeclaration) -> Value {
    json!({"type": "function", "name": tool.name, "parameters": tool.parameters,
           "description": tool.description, "strict": false})
}
