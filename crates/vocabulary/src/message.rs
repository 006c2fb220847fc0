//! The messages of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Usage;
use crate::text::CUT_MARK;

/// One message of a child's conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// The child's own instructions; never counted, stored or shown as a message.
    System(ToolChange),
    /// The prompt of the child.
    User(Vec<Part>),
    /// The answer of the model.
    Assistant(AssistantMessage),
    /// The answer of a tool.
    ToolResult(ToolResult),
    /// A kind of message we do not know, kept by its role.
    Other {
        /// The role it named.
        role: String,
        /// Its content.
        parts: Vec<Part>,
    },
}

/// The tools that a child's instructions add and remove.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolChange {
    /// True if these are the first instructions of a session. Later ones list only the changes; so
    /// do the first ones of a resumed session.
    pub is_first: bool,
    /// Names of the tools it was given.
    pub added: Vec<String>,
    /// Names of the tools that were taken from it, or given again in another form.
    pub removed: Vec<String>,
}

/// One answer of the model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssistantMessage {
    /// Its text, thoughts and calls, in order.
    pub parts: Vec<Part>,
    /// The provider that answered.
    pub provider: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The reason why it stopped.
    pub stop_reason: Option<StopReason>,
    /// The error, if there was one.
    pub error: Option<String>,
    /// The tokens and the cost of it.
    pub usage: Usage,
}

/// One answer of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// The call it answers.
    pub call_id: String,
    /// The tool that answered.
    pub tool: String,
    /// The parts of the answer.
    pub parts: Vec<Part>,
    /// True if the tool failed.
    pub is_error: bool,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Words.
    Text(String),
    /// The model's reasoning.
    Thinking(String),
    /// A call of a tool.
    ToolCall(ToolCall),
    /// A picture; only its type is kept.
    Image {
        /// For example `image/png`.
        mime_type: String,
    },
}

/// A call of a tool, as the model wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments. The model may give any type.
    pub arguments: Value,
}

/// The reason why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
pub enum StopReason {
    /// It was done.
    Stop,
    /// It ran out of room.
    Length,
    /// It wants tools to be run.
    ToolUse,
    /// It failed.
    Error,
    /// It was aborted.
    Aborted,
    /// A reason we do not know.
    Other(String),
}

impl StopReason {
    /// Reads the protocol's word.
    pub fn from_word(word: &str) -> Self {
        match word {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "toolUse" => Self::ToolUse,
            "error" => Self::Error,
            "aborted" => Self::Aborted,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns the protocol's word.
    pub fn as_word(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolUse => "toolUse",
            Self::Error => "error",
            Self::Aborted => "aborted",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for StopReason {
    fn from(word: String) -> Self {
        Self::from_word(&word)
    }
}

impl From<StopReason> for String {
    fn from(reason: StopReason) -> Self {
        reason.as_word().to_owned()
    }
}

impl Message {
    /// Returns the parts of the message.
    pub fn parts(&self) -> &[Part] {
        match self {
            Self::System(_) => &[],
            Self::User(parts) | Self::Other { parts, .. } => parts,
            Self::Assistant(message) => &message.parts,
            Self::ToolResult(result) => &result.parts,
        }
    }

    /// Joins the parts of text with newlines; `None` if there are no such parts.
    pub fn text(&self) -> Option<String> {
        joined_text(self.parts())
    }
}

impl AssistantMessage {
    /// Returns whether the model answered at all; a request may have failed before it did.
    pub fn is_answer(&self) -> bool {
        self.error.is_none() || !self.parts.is_empty()
    }

    /// Joins the parts of text with newlines; `None` if there are no such parts.
    pub fn text(&self) -> Option<String> {
        joined_text(&self.parts)
    }

    /// Puts the joined text into `kept`, cut to a number of bytes without copying the rest. Leaves
    /// `kept` as it is if there is no text.
    pub(crate) fn keep_text_up_to(&self, limit: usize, kept: &mut Option<String>) {
        if texts(&self.parts).next().is_none() {
            return;
        }
        let kept = kept.get_or_insert_default();
        kept.clear();
        for text in texts(&self.parts) {
            let separator = if kept.is_empty() { "" } else { "\n" };
            let room = limit.saturating_sub(kept.len() + separator.len());
            kept.push_str(separator);
            if text.len() > room {
                kept.push_str(&text[..text.floor_char_boundary(room)]);
                kept.push_str(CUT_MARK);
                break;
            }
            kept.push_str(text);
        }
    }

    /// Returns the calls of tools, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            Part::Text(_) | Part::Thinking(_) | Part::Image { .. } => None,
        })
    }
}

impl ToolResult {
    /// Joins the parts of text with newlines.
    pub fn text(&self) -> String {
        joined_text(&self.parts).unwrap_or_default()
    }
}

fn joined_text(parts: &[Part]) -> Option<String> {
    let texts: Vec<&str> = texts(parts).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn texts(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|part| match part {
        Part::Text(text) if !text.is_empty() => Some(text.as_str()),
        Part::Text(_) | Part::Thinking(_) | Part::ToolCall(_) | Part::Image { .. } => None,
    })
}
