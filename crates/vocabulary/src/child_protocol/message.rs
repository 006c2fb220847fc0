//! Messages in the form of records.

use serde::de::SeqAccess;
use serde::{Deserialize, Deserializer};

use super::decode::{Raw, read, value};
use super::fields::{Object, Scalar, Shape};
use crate::{AssistantMessage, Message, Part, StopReason, ToolCall, ToolChange, ToolResult, Usage};

#[derive(Deserialize)]
pub(super) struct WireMessage<'a> {
    #[serde(borrow, default)]
    role: Scalar<'a>,
    #[serde(default)]
    content: Content,
    #[serde(borrow, default)]
    provider: Scalar<'a>,
    #[serde(borrow, default)]
    model: Scalar<'a>,
    #[serde(rename = "stopReason", borrow, default)]
    stop_reason: Scalar<'a>,
    #[serde(rename = "errorMessage", borrow, default)]
    error_message: Scalar<'a>,
    #[serde(borrow, default)]
    usage: Object<WireUsage<'a>>,
    #[serde(rename = "toolCallId", borrow, default)]
    tool_call_id: Scalar<'a>,
    #[serde(rename = "toolName", borrow, default)]
    tool_name: Scalar<'a>,
    #[serde(rename = "isError", borrow, default)]
    is_error: Scalar<'a>,
    #[serde(rename = "toolsAdded", borrow, default)]
    tools_added: Raw<'a>,
    #[serde(rename = "toolsRemoved", borrow, default)]
    tools_removed: Raw<'a>,
    #[serde(borrow, default)]
    sections: Raw<'a>,
}

impl WireMessage<'_> {
    pub(super) fn into_message(self) -> Option<Message> {
        let role = self.role.text()?;
        let parts = self.content.0;
        Some(match &*role {
            "system" => Message::System(ToolChange {
                is_first: is_first(self.sections),
                added: names(self.tools_added),
                removed: names(self.tools_removed),
            }),
            "user" => Message::User(parts),
            "assistant" => Message::Assistant(AssistantMessage {
                parts,
                provider: self.provider.owned(),
                model: self.model.owned(),
                stop_reason: self
                    .stop_reason
                    .text()
                    .map(|word| StopReason::from_word(&word)),
                error: self.error_message.owned(),
                usage: self
                    .usage
                    .0
                    .map_or_else(Usage::default, WireUsage::into_usage),
            }),
            "toolResult" => Message::ToolResult(ToolResult {
                call_id: self.tool_call_id.words(),
                tool: self.tool_name.words(),
                parts,
                is_error: self.is_error.is_true(),
            }),
            role => Message::Other {
                role: role.to_owned(),
                parts,
            },
        })
    }
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

fn names(raw: Raw<'_>) -> Vec<String> {
    let named: Vec<Named> = read(raw).unwrap_or_default();
    named.into_iter().map(|named| named.name).collect()
}

/// Returns whether these are the first instructions of a session. The directory of a session never
/// changes, so only the first instructions have that section.
fn is_first(sections: Raw<'_>) -> bool {
    #[derive(Deserialize)]
    struct Sections<'a> {
        #[serde(borrow, default)]
        cwd: Scalar<'a>,
    }
    read::<Sections<'_>>(sections).is_some_and(|sections| sections.cwd.text().is_some())
}

/// Content is a string or a list of parts; parts we cannot read are left out.
#[derive(Debug, Default)]
pub(super) struct Content(Vec<Part>);

impl Content {
    /// Joins the parts of text with newlines; `None` if there are no such parts.
    pub(super) fn text(self) -> Option<String> {
        Message::User(self.0).text()
    }
}

impl<'de> Shape<'de> for Content {
    fn of_text(text: &str) -> Self {
        Self(vec![Part::Text(text.to_owned())])
    }

    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = list.next_element::<Object<WirePart<'de>>>()? {
            parts.extend(part.0.and_then(WirePart::into_part));
        }
        Ok(Self(parts))
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer)
    }
}

#[derive(Deserialize)]
struct WirePart<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Scalar<'a>,
    #[serde(borrow, default)]
    text: Scalar<'a>,
    #[serde(borrow, default)]
    thinking: Scalar<'a>,
    #[serde(borrow, default)]
    id: Scalar<'a>,
    #[serde(borrow, default)]
    name: Scalar<'a>,
    #[serde(borrow, default)]
    arguments: Raw<'a>,
    #[serde(rename = "mimeType", borrow, default)]
    mime_type: Scalar<'a>,
}

impl WirePart<'_> {
    fn into_part(self) -> Option<Part> {
        match &*self.kind.text()? {
            "text" => self.text.owned().map(Part::Text),
            "thinking" => self.thinking.owned().map(Part::Thinking),
            "toolCall" => Some(Part::ToolCall(ToolCall {
                id: self.id.words(),
                name: self.name.words(),
                arguments: value(self.arguments),
            })),
            "image" => Some(Part::Image {
                mime_type: self.mime_type.words(),
            }),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct WireUsage<'a> {
    #[serde(borrow, default)]
    input: Scalar<'a>,
    #[serde(borrow, default)]
    output: Scalar<'a>,
    #[serde(rename = "cacheRead", borrow, default)]
    cache_read: Scalar<'a>,
    #[serde(rename = "cacheWrite", borrow, default)]
    cache_write: Scalar<'a>,
    #[serde(borrow, default)]
    cost: Object<WireCost<'a>>,
}

#[derive(Deserialize)]
struct WireCost<'a> {
    #[serde(borrow, default)]
    total: Scalar<'a>,
}

impl WireUsage<'_> {
    pub(super) fn into_usage(self) -> Usage {
        Usage {
            input: self.input.count(),
            output: self.output.count(),
            cache_read: self.cache_read.count(),
            cache_write: self.cache_write.count(),
            cost: self.cost.0.and_then(|cost| cost.total.amount()),
            cost_is_at_least: false,
        }
    }
}
