//! Builds the request for generated content.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::is_made_up;
use crate::message::{AssistantMessage, Block, ToolDeclaration, ToolResultMessage, joined_text};
use crate::models::Model;
use crate::providers::Request;
use crate::providers::effort::google as effort;
use crate::providers::turns::{ContentFormat, Turn, is_own, object, turns};

const CONTENT: ContentFormat = ContentFormat { text, image };

/// The placeholder for a signature in the first call of a turn, where Gemini 3 insists on a
/// signature and the call came from another model.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Returns the body of a request; the model is part of the address.
pub(in crate::providers) fn body(request: &Request<'_>) -> Map<String, Value> {
    let mut body = Map::new();
    let mut config = Map::new();
    if let Some(thinking) = effort(request.model, request.thinking) {
        config.insert("thinkingConfig".to_owned(), thinking);
    }
    if let Some(tokens) = request.max_tokens {
        config.insert("maxOutputTokens".to_owned(), json!(tokens));
    }
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    if !config.is_empty() {
        set("generationConfig", Value::Object(config));
    }
    if !request.system.is_empty() {
        set(
            "systemInstruction",
            json!({"parts": [{"text": request.system}]}),
        );
    }
    if !request.tools.is_empty() {
        let functions: Vec<Value> = request.tools.iter().map(tool).collect();
        set("tools", json!([{"functionDeclarations": functions}]));
    }
    set("contents", Value::Array(contents(request)));
    body
}

fn contents(request: &Request<'_>) -> Vec<Value> {
    let model = request.model;
    let mut contents = Vec::new();
    let user = |parts: Vec<Value>| json!({"role": "user", "parts": parts});
    let mut calls: HashSet<&str> = HashSet::new();
    for turn in turns(request) {
        match turn {
            Turn::User(blocks) => contents.push(user(CONTENT.parts(blocks, model))),
            Turn::Note(note) => contents.push(user(vec![text(&note)])),
            Turn::Answer(answer) => {
                calls.extend(answer.tool_calls().map(|call| call.id.as_str()));
                contents.extend(answer_of(answer, model));
            }
            Turn::Results(results) => {
                let responses = results.iter().map(|one| response(one, &calls));
                contents.push(user(responses.collect()));
                contents.extend(CONTENT.images_of(&results, model).map(user));
            }
        }
    }
    contents
}

fn text(text: &str) -> Value {
    json!({"text": text})
}

fn image(kind: &str, data: &str) -> Value {
    json!({"inline_data": {"mime_type": kind, "data": data}})
}

fn answer_of(answer: &AssistantMessage, model: &Model) -> Option<Value> {
    let is_own = is_own(answer, model);
    let mut parts: Vec<Value> = Vec::new();
    let mut needs_signature = model.id.contains("gemini-3");
    for block in &answer.content {
        match block {
            Block::Text {
                text,
                text_signature,
            } if !text.is_empty() => {
                let signature = text_signature.clone().filter(|_| is_own);
                parts.push(signed(json!({"text": text}), signature));
            }
            Block::ToolCall(call) => {
                let mut function = json!({"name": call.name, "args": object(&call.arguments)});
                if !is_made_up(&call.id) && !call.id.is_empty() {
                    function["id"] = json!(call.id);
                }
                let signature = call.thought_signature.clone().filter(|_| is_own);
                let stand_in =
                    std::mem::take(&mut needs_signature).then(|| NO_SIGNATURE.to_owned());
                let part = json!({"functionCall": function});
                parts.push(signed(part, signature.or(stand_in)));
            }
            Block::Text { .. } | Block::Thinking { .. } | Block::Image { .. } | Block::Other(_) => {
            }
        }
    }
    (!parts.is_empty()).then(|| json!({"role": "model", "parts": parts}))
}

fn signed(mut part: Value, signature: Option<String>) -> Value {
    if let Some(signature) = signature {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

/// Returns the result of a call. If the conversation has no call of its id, the name must do.
fn response(result: &ToolResultMessage, calls: &HashSet<&str>) -> Value {
    let id = result.tool_call_id.as_str();
    let name = if result.tool_name.is_empty() {
        id
    } else {
        &result.tool_name
    };
    let content = joined_text(&result.content);
    let mut response = json!({"name": name, "response": {"name": name, "content": content}});
    if calls.contains(id) && !is_made_up(id) {
        response["id"] = json!(id);
    }
    json!({"functionResponse": response})
}

fn tool(tool: &ToolDeclaration) -> Value {
    json!({"name": tool.name, "description": tool.description,
           "parametersJsonSchema": tool.parameters})
}
