//! Messages in pi's shape, as in events and session files.
//!
//! Reading is tolerant: parts that fit no known role or block are kept as they came.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::sections::Sections;
use crate::usage::Usage;

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub(crate) enum Message {
    System(SystemMessage),
    User(UserMessage),
    Assistant(AssistantMessage),
    ToolResult(ToolResultMessage),
    CompactionSummary(CompactionSummary),
    /// A role that only pi knows, for example `bashExecution`.
    #[serde(untagged)]
    Other(Value),
}

impl Message {
    pub(crate) fn as_assistant(&self) -> Option<&AssistantMessage> {
        match self {
            Self::Assistant(message) => Some(message),
            Self::System(_)
            | Self::User(_)
            | Self::ToolResult(_)
            | Self::CompactionSummary(_)
            | Self::Other(_) => None,
        }
    }

    pub(crate) fn user(content: Vec<Block>) -> Self {
        Self::User(UserMessage {
            content,
            timestamp: crate::clock::milliseconds(),
        })
    }
}

/// The prompt sections and the tools that the model may call.
///
/// The first message is complete, later ones are patches; a section set to null is gone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SystemMessage {
    pub(crate) content: String,
    #[serde(skip_serializing_if = "Sections::is_empty")]
    pub(crate) sections: Sections,
    pub(crate) timestamp: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools_added: Vec<ToolDeclaration>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools_removed: Vec<RemovedTool>,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToolDeclaration {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) parameters: Value,
}

/// The name of a tool that is there no more, or has changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RemovedTool {
    pub(crate) name: String,
}

/// A message of the caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct UserMessage {
    #[serde(deserialize_with = "blocks_or_text")]
    pub(crate) content: Vec<Block>,
    #[serde(default)]
    pub(crate) timestamp: u64,
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AssistantMessage {
    #[serde(deserialize_with = "blocks_or_text")]
    pub(crate) content: Vec<Block>,
    #[serde(default)]
    pub(crate) api: String,
    #[serde(default)]
    pub(crate) provider: String,
    #[serde(default)]
    pub(crate) model: String,
    #[serde(default)]
    pub(crate) usage: Usage,
    pub(crate) stop_reason: StopReason,
    #[serde(default)]
    pub(crate) timestamp: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) response_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) raw_stop_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error_message: Option<String>,
}

impl AssistantMessage {
    pub(crate) fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            Block::Text { .. } | Block::Thinking { .. } | Block::Image { .. } | Block::Other(_) => {
                None
            }
        })
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolResultMessage {
    pub(crate) tool_call_id: String,
    #[serde(default)]
    pub(crate) tool_name: String,
    #[serde(deserialize_with = "blocks_or_text")]
    pub(crate) content: Vec<Block>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Value>,
    #[serde(default)]
    pub(crate) is_error: bool,
    #[serde(default)]
    pub(crate) timestamp: u64,
}

/// The summary that replaces the part of a conversation that is no longer sent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct CompactionSummary {
    pub(crate) summary: String,
    pub(crate) tokens_before: u64,
    pub(crate) timestamp: u64,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Block {
    Text {
        text: String,
        /// A signature that Google wants back with the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text_signature: Option<String>,
    },
    Thinking {
        thinking: String,
        /// The signature that the provider wants back with the thought.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking_signature: Option<String>,
        /// The provider keeps the thought to itself; the signature is all there is.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        redacted: bool,
    },
    ToolCall(ToolCall),
    Image {
        data: String,
        mime_type: String,
    },
    #[serde(untagged)]
    Other(Value),
}

impl Block {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            text_signature: None,
        }
    }
}

/// A call the model asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: Value,
    /// A signature that Google wants back with the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thought_signature: Option<String>,
}

/// The reason why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StopReason {
    /// Still speaking; only ever seen in `message_start`.
    Pending,
    Stop,
    Length,
    ToolUse,
    Error,
    Aborted,
    /// A reason that only pi knows.
    #[serde(other)]
    Other,
}

/// Joins all text blocks by newlines.
pub(crate) fn joined_text(blocks: &[Block]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text, .. } => Some(text.as_str()),
            Block::Thinking { .. } | Block::ToolCall(_) | Block::Image { .. } | Block::Other(_) => {
                None
            }
        })
        .collect();
    texts.join("\n")
}

/// Reads content, which pi writes as a list of blocks or as bare text.
fn blocks_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Block>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Content {
        Text(String),
        Blocks(Vec<Block>),
    }
    Ok(match Content::deserialize(deserializer)? {
        Content::Text(text) => vec![Block::text(text)],
        Content::Blocks(blocks) => blocks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_of_pi_are_read_whatever_they_hold() {
        let read = |value: Value| serde_json::from_value::<Message>(value).unwrap();
        assert_eq!(
            read(json!({"role": "user", "content": "hi", "timestamp": 1})),
            Message::User(UserMessage {
                content: vec![Block::text("hi")],
                timestamp: 1
            })
        );
        let odd = json!({"role": "bashExecution", "command": "ls"});
        assert_eq!(read(odd.clone()), Message::Other(odd));
        let Message::Assistant(assistant) = read(json!({
            "role": "assistant", "stopReason": "deferred",
            "content": [{"type": "novelty", "x": 1}, {"type": "text", "text": "a"}],
            "usage": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3,
                      "cost": {"total": null}}
        })) else {
            panic!("not an assistant message");
        };
        assert_eq!(assistant.stop_reason, StopReason::Other);
        assert_eq!(assistant.usage.cost, None);
        assert_eq!(joined_text(&assistant.content), "a");
    }
}
