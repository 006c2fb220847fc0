//! Our messages in the words of the client library.

use genai::chat::{
    CacheControl, ChatMessage, ChatRequest, ChatRole, ContentPart, MessageContent, MessageOptions,
    Tool, ToolCall, ToolResponse,
};
use serde_json::{Value, json};

use super::{Request, Wire};
use crate::message::{
    AssistantMessage, Block, Message, ToolDeclaration, ToolResultMessage, joined_text,
};
use crate::models::Model;

/// Translates a whole request.
pub(super) fn translate(wire: Wire, request: &Request<'_>) -> ChatRequest {
    let translation = Translation {
        wire,
        model: request.model,
    };
    let mut messages = translation.messages(request);
    if wire == Wire::Messages {
        mark_for_cache(&mut messages);
    }
    let mut chat = ChatRequest::new(messages);
    if wire == Wire::Responses && !request.system.is_empty() {
        chat.system = Some(request.system.to_owned());
    }
    if request.tools.is_empty() {
        chat
    } else {
        chat.with_tools(request.tools.iter().map(|one| tool(wire, one)))
    }
}

/// Anthropic caches only up to a mark: after the prompt, and after what was said last.
fn mark_for_cache(messages: &mut [ChatMessage]) {
    let mark = || Some(MessageOptions::default().with_cache_control(CacheControl::Ephemeral));
    let is_ours = |message: &&mut ChatMessage| message.role != ChatRole::Assistant;
    if let Some(last) = messages.iter_mut().rev().find(is_ours) {
        last.options = mark();
    }
    if let Some(first) = messages.first_mut() {
        first.options = mark();
    }
}

struct Translation<'a> {
    wire: Wire,
    model: &'a Model,
}

impl Translation<'_> {
    fn messages(&self, request: &Request<'_>) -> Vec<ChatMessage> {
        let mut messages = Vec::new();
        if !request.system.is_empty() && self.wire != Wire::Responses {
            messages.push(ChatMessage::system(request.system));
        }
        let mut results: Vec<&ToolResultMessage> = Vec::new();
        for message in request.messages {
            if let Message::ToolResult(result) = &**message {
                results.push(result);
                continue;
            }
            messages.extend(self.answered(&mut results));
            match &**message {
                Message::User(user) => messages.push(ChatMessage::user(self.said(&user.content))),
                Message::Assistant(answer) => messages.extend(self.spoken(answer)),
                Message::CompactionSummary(compaction) => {
                    messages.push(ChatMessage::user(summarized(&compaction.summary)));
                }
                Message::Other(message) => messages.extend(told(message).map(ChatMessage::user)),
                Message::System(_) | Message::ToolResult(_) => {}
            }
        }
        messages.extend(self.answered(&mut results));
        messages
    }

    /// The results of one batch belong together, and their images behind them.
    fn answered(&self, results: &mut Vec<&ToolResultMessage>) -> Vec<ChatMessage> {
        let results = std::mem::take(results);
        if results.is_empty() {
            return Vec::new();
        }
        let parts: Vec<ContentPart> = results.iter().map(|result| self.result(result)).collect();
        let mut messages = vec![ChatMessage::tool(MessageContent::from_parts(parts))];
        // Only Anthropic takes images as the result of a tool.
        if self.model.sees_images() && self.wire != Wire::Messages {
            let blocks = results.iter().flat_map(|result| &result.content);
            let images: Vec<ContentPart> = blocks.filter_map(image).collect();
            if !images.is_empty() {
                let mut parts = vec![ContentPart::from_text(
                    "Images from the tool results above:",
                )];
                parts.extend(images);
                messages.push(ChatMessage::user(MessageContent::from_parts(parts)));
            }
        }
        messages
    }

    fn result(&self, result: &ToolResultMessage) -> ContentPart {
        let id = self.call_id(&result.tool_call_id);
        if self.wire == Wire::Messages {
            return ContentPart::from_custom(self.anthropic_result(&id, result), None);
        }
        let response = ToolResponse::new(id, joined_text(&result.content));
        ContentPart::ToolResponse(response.with_fn_name(&result.tool_name))
    }

    /// The library knows results of text alone, and no failed ones.
    fn anthropic_result(&self, id: &str, result: &ToolResultMessage) -> Value {
        let mut content = Vec::new();
        for block in &result.content {
            match block {
                Block::Text { text, .. } if !text.is_empty() => {
                    content.push(json!({"type": "text", "text": text}));
                }
                Block::Image { data, mime_type } if self.model.sees_images() => {
                    content.push(json!({"type": "image", "source": {
                        "type": "base64", "media_type": mime_type, "data": data}}));
                }
                Block::Text { .. }
                | Block::Image { .. }
                | Block::Thinking { .. }
                | Block::ToolCall(_)
                | Block::Other(_) => {}
            }
        }
        json!({"type": "tool_result", "tool_use_id": id, "content": content,
               "is_error": result.is_error})
    }

    fn said(&self, blocks: &[Block]) -> MessageContent {
        let parts = blocks.iter().filter_map(|block| match block {
            Block::Text { text, .. } => Some(ContentPart::from_text(text)),
            Block::Image { .. } if self.model.sees_images() => image(block),
            Block::Image { .. } | Block::Thinking { .. } | Block::ToolCall(_) | Block::Other(_) => {
                None
            }
        });
        MessageContent::from_parts(parts.collect::<Vec<_>>())
    }

    fn spoken(&self, answer: &AssistantMessage) -> Option<ChatMessage> {
        let is_own = answer.provider == self.model.provider && answer.model == self.model.id;
        let mut parts: Vec<ContentPart> = Vec::new();
        for block in &answer.content {
            parts.extend(self.parts(block, is_own));
        }
        let says_something = parts
            .iter()
            .any(|part| matches!(part, ContentPart::Text(_) | ContentPart::ToolCall(_)));
        says_something.then(|| ChatMessage::assistant(MessageContent::from_parts(parts)))
    }

    fn parts(&self, block: &Block, is_own: bool) -> Vec<ContentPart> {
        match block {
            Block::Text {
                text,
                text_signature,
            } if !text.is_empty() => {
                let signature = text_signature
                    .clone()
                    .filter(|_| is_own && self.wire == Wire::Google);
                let signature = signature.map(ContentPart::ThoughtSignature);
                signature
                    .into_iter()
                    .chain([ContentPart::from_text(text)])
                    .collect()
            }
            Block::ToolCall(call) => {
                let signature = call.thought_signature.clone().filter(|_| is_own);
                vec![ContentPart::ToolCall(ToolCall {
                    call_id: self.call_id(&call.id),
                    fn_name: call.name.clone(),
                    fn_arguments: object(&call.arguments),
                    thought_signatures: signature.map(|signature| vec![signature]),
                })]
            }
            Block::Thinking {
                thinking,
                thinking_signature,
                redacted,
            } => self.thought(thinking, thinking_signature.as_deref(), *redacted, is_own),
            Block::Text { .. } | Block::Image { .. } | Block::Other(_) => Vec::new(),
        }
    }

    /// A thought goes back only to the model that had it, and only if it can prove it.
    fn thought(
        &self,
        thinking: &str,
        signature: Option<&str>,
        redacted: bool,
        is_own: bool,
    ) -> Vec<ContentPart> {
        match (self.wire, signature) {
            (Wire::Completions, _) if is_own && !thinking.is_empty() && !redacted => {
                vec![ContentPart::ReasoningContent(thinking.to_owned())]
            }
            (Wire::Messages, Some(hidden)) if is_own && redacted => {
                let block = json!({"type": "redacted_thinking", "data": hidden});
                vec![ContentPart::from_custom(block, None)]
            }
            (Wire::Messages, Some(signature)) if is_own && !thinking.is_empty() => vec![
                ContentPart::ThoughtSignature(signature.to_owned()),
                ContentPart::ReasoningContent(thinking.to_owned()),
            ],
            (Wire::Responses, Some(item)) if is_own => encrypted(item)
                .map(ContentPart::ThoughtSignature)
                .into_iter()
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Ids of other formats, in a form that this one takes.
    fn call_id(&self, id: &str) -> String {
        match self.wire {
            Wire::Completions | Wire::Google => id.to_owned(),
            // Pi keeps the id of the item behind the id of the call.
            Wire::Responses => id.split('|').next().unwrap_or(id).to_owned(),
            Wire::Messages => id
                .chars()
                .take(64)
                .map(|one| match one {
                    'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => one,
                    _ => '_',
                })
                .collect(),
        }
    }
}

fn summarized(summary: &str) -> String {
    format!(
        "What was said before this point has been summarized to save space:\n\n<summary>\n{summary}\n</summary>"
    )
}

/// Messages that only pi writes, as far as a model should know them.
fn told(message: &Value) -> Option<String> {
    let text = |field: &str| message[field].as_str();
    match text("role")? {
        "bashExecution" if message["excludeFromContext"] != true => Some(format!(
            "The user ran `{}`:\n```\n{}\n```",
            text("command").unwrap_or_default(),
            text("output").unwrap_or_default()
        )),
        "branchSummary" => text("summary").map(summarized),
        "custom" => match &message["content"] {
            Value::String(text) => Some(text.clone()),
            blocks => serde_json::from_value::<Vec<Block>>(blocks.clone())
                .ok()
                .map(|blocks| joined_text(&blocks)),
        },
        _ => None,
    }
}

/// The secret part of a reasoning item, which pi and we keep whole.
fn encrypted(item: &str) -> Option<String> {
    let item: Value = serde_json::from_str(item).ok()?;
    item["encrypted_content"].as_str().map(str::to_owned)
}

/// Arguments that were no JSON are not repeated: half the servers could not read them.
fn object(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        _ => json!({}),
    }
}

fn image(block: &Block) -> Option<ContentPart> {
    match block {
        Block::Image { data, mime_type } => Some(ContentPart::from_binary_base64(
            mime_type,
            data.as_str(),
            None,
        )),
        Block::Text { .. } | Block::Thinking { .. } | Block::ToolCall(_) | Block::Other(_) => None,
    }
}

fn tool(wire: Wire, declaration: &ToolDeclaration) -> Tool {
    let tool = Tool::new(declaration.name.as_str())
        .with_description(declaration.description.as_str())
        .with_schema(declaration.parameters.clone());
    match wire {
        // Strict, the default there, would make every optional argument required.
        Wire::Responses => tool.with_strict(false),
        Wire::Completions | Wire::Messages | Wire::Google => tool,
    }
}
