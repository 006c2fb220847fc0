//! A conversation as every wire format sees it: who said what, in which order.

use serde_json::Value;

use super::Request;
use crate::message::{AssistantMessage, Block, Message, ToolResultMessage, joined_text};
use crate::models::Model;

/// What one side said, before the other side speaks again.
pub(super) enum Turn<'a> {
    /// What the caller said.
    User(&'a [Block]),
    /// What stands in for something that was said or done.
    Note(String),
    /// What the model said.
    Answer(&'a AssistantMessage),
    /// The results of one batch of calls, which belong together.
    Results(Vec<&'a ToolResultMessage>),
}

/// The conversation of a request, from its beginning.
pub(super) fn turns<'a>(request: &Request<'a>) -> Vec<Turn<'a>> {
    let mut turns = Vec::new();
    for message in request.messages {
        match &**message {
            Message::ToolResult(result) => {
                if let Some(Turn::Results(results)) = turns.last_mut() {
                    results.push(result);
                } else {
                    turns.push(Turn::Results(vec![result]));
                }
            }
            Message::User(user) => turns.push(Turn::User(&user.content)),
            Message::Assistant(answer) => turns.push(Turn::Answer(answer)),
            Message::CompactionSummary(compaction) => {
                turns.push(Turn::Note(summarized(&compaction.summary)));
            }
            Message::Other(message) => turns.extend(told(message).map(Turn::Note)),
            Message::System(_) => {}
        }
    }
    turns
}

/// Tells whether the same model gave this answer, so that its thoughts may go back to it.
pub(super) fn is_own(answer: &AssistantMessage, model: &Model) -> bool {
    answer.provider == model.provider && answer.model == model.id
}

/// The images of tool results, for the formats that take only text as a result.
pub(super) fn images<'a>(
    results: &[&'a ToolResultMessage],
    model: &Model,
) -> Vec<(&'a str, &'a str)> {
    let blocks = results.iter().flat_map(|result| &result.content);
    let images = blocks.filter_map(image);
    images.filter(|_| model.sees_images()).collect()
}

/// Stands before images that follow the results they belong to.
pub(super) const IMAGES_BELOW: &str = "Images from the tool results above:";

/// The type and the data of an image.
pub(super) fn image(block: &Block) -> Option<(&str, &str)> {
    match block {
        Block::Image { data, mime_type } => Some((mime_type, data)),
        Block::Text { .. } | Block::Thinking { .. } | Block::ToolCall(_) | Block::Other(_) => None,
    }
}

/// One part of what a caller said.
pub(super) enum Part<'a> {
    Text(&'a str),
    Image { kind: &'a str, data: &'a str },
}

/// Returns the parts of a caller's message that the model can take.
pub(super) fn parts<'a>(blocks: &'a [Block], model: &Model) -> Vec<Part<'a>> {
    let sees = model.sees_images();
    let parts = blocks.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(Part::Text(text)),
        Block::Image { data, mime_type } if sees => Some(Part::Image {
            kind: mime_type,
            data,
        }),
        Block::Image { .. } | Block::Thinking { .. } | Block::ToolCall(_) | Block::Other(_) => None,
    });
    parts.collect()
}

/// The text of a message without images; None if it has some.
pub(super) fn only_text(parts: &[Part<'_>]) -> Option<String> {
    let texts = parts.iter().map(|part| match part {
        Part::Text(text) => Some(*text),
        Part::Image { .. } => None,
    });
    Some(texts.collect::<Option<Vec<&str>>>()?.join("\n\n"))
}

/// The arguments of a call. Those that were no JSON are not repeated: half the servers could
/// not read them.
pub(super) fn object(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        _ => Value::Object(serde_json::Map::new()),
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
