//! Our messages in the words of the client library.

use std::rc::Rc;

use genai::chat::{
    ChatMessage, ChatRequest, ContentPart, MessageContent, Tool, ToolCall, ToolResponse,
};

use super::Request;
use crate::message::{
    AssistantMessage, Block, Message, ToolDeclaration, ToolResultMessage, joined_text,
};

/// Translates a whole request.
pub(super) fn translate(request: &Request<'_>) -> ChatRequest {
    let sees_images = request.model.sees_images();
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(ChatMessage::system(request.system));
    }
    let mut images = Vec::new();
    for message in request.messages {
        if !matches!(**message, Message::ToolResult(_)) {
            messages.extend(take_images(&mut images));
        }
        messages.extend(translated(message, sees_images, &mut images));
    }
    messages.extend(take_images(&mut images));
    let chat = ChatRequest::new(messages);
    if request.tools.is_empty() {
        chat
    } else {
        chat.with_tools(request.tools.iter().map(tool))
    }
}

fn translated(
    message: &Rc<Message>,
    sees_images: bool,
    images: &mut Vec<ContentPart>,
) -> Option<ChatMessage> {
    match &**message {
        Message::User(user) => Some(ChatMessage::user(content(&user.content, sees_images))),
        Message::Assistant(answer) => spoken(answer),
        Message::ToolResult(result) => {
            if sees_images {
                images.extend(result.content.iter().filter_map(image));
            }
            Some(tool_result(result))
        }
        Message::System(_) | Message::Other(_) => None,
    }
}

/// Chat completions take text only as the result of a tool, so images follow as a message.
fn take_images(images: &mut Vec<ContentPart>) -> Option<ChatMessage> {
    if images.is_empty() {
        return None;
    }
    let mut parts = vec![ContentPart::from_text(
        "Images from the tool results above:",
    )];
    parts.append(images);
    Some(ChatMessage::user(MessageContent::from_parts(parts)))
}

fn content(blocks: &[Block], sees_images: bool) -> MessageContent {
    let parts = blocks.iter().filter_map(|block| match block {
        Block::Text { text } => Some(ContentPart::from_text(text)),
        Block::Image { .. } if sees_images => image(block),
        Block::Image { .. } | Block::Thinking { .. } | Block::ToolCall(_) | Block::Other(_) => None,
    });
    MessageContent::from_parts(parts.collect::<Vec<_>>())
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

fn spoken(answer: &AssistantMessage) -> Option<ChatMessage> {
    let parts: Vec<ContentPart> = answer.content.iter().filter_map(part).collect();
    let thought: Vec<&str> = answer.content.iter().filter_map(thinking).collect();
    if parts.is_empty() {
        return None;
    }
    let message = ChatMessage::assistant(MessageContent::from_parts(parts));
    let thought = thought.join("\n");
    Some(message.with_reasoning_content(Some(thought).filter(|thought| !thought.is_empty())))
}

fn part(block: &Block) -> Option<ContentPart> {
    match block {
        Block::Text { text } if !text.is_empty() => Some(ContentPart::from_text(text)),
        Block::ToolCall(call) => Some(ContentPart::ToolCall(ToolCall {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: call.arguments.clone(),
            thought_signatures: None,
        })),
        Block::Text { .. } | Block::Thinking { .. } | Block::Image { .. } | Block::Other(_) => None,
    }
}

fn thinking(block: &Block) -> Option<&str> {
    match block {
        Block::Thinking { thinking, .. } => Some(thinking),
        Block::Text { .. } | Block::ToolCall(_) | Block::Image { .. } | Block::Other(_) => None,
    }
}

fn tool_result(result: &ToolResultMessage) -> ChatMessage {
    let response = ToolResponse::new(&result.tool_call_id, joined_text(&result.content));
    ChatMessage::from(response.with_fn_name(&result.tool_name))
}

fn tool(declaration: &ToolDeclaration) -> Tool {
    Tool::new(declaration.name.as_str())
        .with_description(declaration.description.as_str())
        .with_schema(declaration.parameters.clone())
}
