//! A conversation as every wire format sees it: the speakers and their words, in order.

use serde_json::{Value, json};

use super::Request;
use crate::message::{AssistantMessage, Block, Message, ToolResultMessage, joined_text};
use crate::models::Model;

/// One turn of a conversation.
pub(super) enum Turn<'a> {
    /// A message of the caller.
    User(&'a [Block]),
    /// A text that replaces messages which no format can write.
    Note(String),
    /// An answer of the model.
    Answer(&'a AssistantMessage),
    /// The results of one batch of calls, which belong together.
    Results(Vec<&'a ToolResultMessage>),
}

/// Returns the conversation of a request, from its beginning.
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
            Message::Other(message) => turns.extend(note_of(message).map(Turn::Note)),
            Message::System(_) => {}
        }
    }
    turns
}

/// Returns whether the same model gave this answer, so that its thoughts may go back to it.
pub(super) fn is_own(answer: &AssistantMessage, model: &Model) -> bool {
    answer.provider == model.provider && answer.model == model.id
}

/// The form in which a wire format writes text and images.
#[derive(Clone, Copy)]
pub(super) struct ContentFormat {
    pub(super) text: fn(&str) -> Value,
    /// Takes the MIME type and the data of an image.
    pub(super) image: fn(&str, &str) -> Value,
}

/// Stands before images that follow the results they belong to.
const IMAGES_BELOW: &str = "Images from the tool results above:";

impl ContentFormat {
    /// Returns the words of a caller as a message: one text if there are no images, else its parts.
    pub(super) fn user_message(&self, blocks: &[Block], model: &Model) -> Value {
        let has_images = model.sees_images() && blocks.iter().any(is_image);
        let content = if has_images {
            Value::Array(self.parts(blocks, model))
        } else {
            let texts: Vec<&str> = blocks.iter().filter_map(text_of).collect();
            Value::String(texts.join("\n\n"))
        };
        json!({"role": "user", "content": content})
    }

    /// Returns the text and the images of a message that the model can take.
    pub(super) fn parts(&self, blocks: &[Block], model: &Model) -> Vec<Value> {
        let parts = blocks.iter().filter_map(|block| match block {
            Block::Text { text, .. } => Some((self.text)(text)),
            Block::Image { data, mime_type } if model.sees_images() => {
                Some((self.image)(mime_type, data))
            }
            Block::Image { .. } | Block::Thinking { .. } | Block::ToolCall(_) | Block::Other(_) => {
                None
            }
        });
        parts.collect()
    }

    /// Returns the images of tool results behind a line that announces them, for the formats that
    /// take only text as a result; None if there is nothing that the model can see.
    pub(super) fn images_of(
        &self,
        results: &[&ToolResultMessage],
        model: &Model,
    ) -> Option<Vec<Value>> {
        let blocks = results.iter().flat_map(|result| &result.content);
        let images = blocks.filter_map(|block| match block {
            Block::Image { data, mime_type } => Some((self.image)(mime_type, data)),
            Block::Text { .. } | Block::Thinking { .. } | Block::ToolCall(_) | Block::Other(_) => {
                None
            }
        });
        let mut parts = vec![(self.text)(IMAGES_BELOW)];
        parts.extend(images.filter(|_| model.sees_images()));
        (parts.len() > 1).then_some(parts)
    }
}

fn is_image(block: &Block) -> bool {
    matches!(block, Block::Image { .. })
}

fn text_of(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text, .. } => Some(text),
        Block::Image { .. } | Block::Thinking { .. } | Block::ToolCall(_) | Block::Other(_) => None,
    }
}

/// Returns the arguments of a call. Those that were no JSON are not repeated: half the servers
/// could not read them.
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
fn note_of(message: &Value) -> Option<String> {
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
