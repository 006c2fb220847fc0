//! Messages as they stand in records.

use std::borrow::Cow;

use super::decode::{Raw, Text, field_by_field, words};
use super::json::{Json, value};
use crate::{AssistantMessage, Message, Part, StopReason, ToolCall, ToolChange, ToolResult, Usage};

/// Every field we read of any message.
#[derive(Default)]
pub(super) struct WireMessage<'a> {
    role: Text<'a>,
    parts: Vec<Part>,
    provider: Text<'a>,
    model: Text<'a>,
    stop_reason: Text<'a>,
    error_message: Text<'a>,
    usage: Usage,
    tool_call_id: Text<'a>,
    tool_name: Text<'a>,
    is_error: bool,
    tools_added: Raw<'a>,
    tools_removed: Raw<'a>,
    sections: Raw<'a>,
}

impl<'a> WireMessage<'a> {
    pub(super) fn read(json: &mut Json<'a>) -> Option<Option<Self>> {
        let mut wire = Self::default();
        let is_object = json.object(|json, key| {
            match key {
                "role" => wire.role = json.text()?,
                "content" => wire.parts = read_parts(json)?,
                "provider" => wire.provider = json.text()?,
                "model" => wire.model = json.text()?,
                "stopReason" => wire.stop_reason = json.text()?,
                "errorMessage" => wire.error_message = json.text()?,
                "usage" => wire.usage = read_usage(json)?,
                "toolCallId" => wire.tool_call_id = json.text()?,
                "toolName" => wire.tool_name = json.text()?,
                "isError" => wire.is_error = json.is_true()?,
                "toolsAdded" => wire.tools_added = Some(json.skip()?),
                "toolsRemoved" => wire.tools_removed = Some(json.skip()?),
                "sections" => wire.sections = Some(json.skip()?),
                _ => _ = json.skip()?,
            }
            Some(())
        })?;
        Some(is_object.then_some(wire))
    }

    pub(super) fn into_message(self) -> Option<Message> {
        let (role, parts) = (self.role?, self.parts);
        Some(match &*role {
            "system" => Message::System(ToolChange {
                is_first: is_first(self.sections),
                added: names(self.tools_added),
                removed: names(self.tools_removed),
            }),
            "user" => Message::User(parts),
            "assistant" => Message::Assistant(AssistantMessage {
                parts,
                provider: self.provider.map(Cow::into_owned),
                model: self.model.map(Cow::into_owned),
                stop_reason: self.stop_reason.map(|word| StopReason::from_word(&word)),
                error: self.error_message.map(Cow::into_owned),
                usage: self.usage,
            }),
            "toolResult" => Message::ToolResult(ToolResult {
                call_id: words(self.tool_call_id),
                tool: words(self.tool_name),
                parts,
                is_error: self.is_error,
            }),
            role => Message::Other {
                role: role.to_owned(),
                parts,
            },
        })
    }
}

fn names(raw: Raw<'_>) -> Vec<String> {
    let mut names = Vec::new();
    let mut name_of = |json: &mut Json<'_>| {
        json.object(|json, key| {
            match key {
                "name" => names.extend(json.text()?.map(Cow::into_owned)),
                _ => _ = json.skip()?,
            }
            Some(())
        })?;
        Some(())
    };
    if let Some(raw) = raw {
        // What was left as it is written is JSON.
        _ = Json::new(raw).list(&mut name_of);
    }
    names
}

/// The directory of a session never changes, so only its first instructions have that section.
fn is_first(sections: Raw<'_>) -> bool {
    let mut has_directory = false;
    field_by_field(sections, |json, key| {
        match key {
            "cwd" => has_directory = json.text()?.is_some(),
            _ => _ = json.skip()?,
        }
        Some(())
    });
    has_directory
}

/// Content is a string or a list of parts; parts we cannot read are left out.
fn read_parts(json: &mut Json<'_>) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    if json.is_text() {
        let text = json.text()?;
        parts.extend(text.map(|text| Part::Text(text.into_owned())));
        return Some(parts);
    }
    json.list(|json| {
        parts.extend(read_part(json)?);
        Some(())
    })?;
    Some(parts)
}

fn read_part(json: &mut Json<'_>) -> Option<Option<Part>> {
    let (mut kind, mut text, mut thinking) = (None, None, None);
    let (mut id, mut name, mut mime_type, mut arguments) = (None, None, None, None);
    json.object(|json, key| {
        match key {
            "type" => kind = json.text()?,
            "text" => text = json.text()?,
            "thinking" => thinking = json.text()?,
            "id" => id = json.text()?,
            "name" => name = json.text()?,
            "arguments" => arguments = Some(json.skip()?),
            "mimeType" => mime_type = json.text()?,
            _ => _ = json.skip()?,
        }
        Some(())
    })?;
    Some(match kind.as_deref() {
        Some("text") => text.map(|text| Part::Text(text.into_owned())),
        Some("thinking") => thinking.map(|text| Part::Thinking(text.into_owned())),
        Some("toolCall") => Some(Part::ToolCall(ToolCall {
            id: words(id),
            name: words(name),
            arguments: value(arguments),
        })),
        Some("image") => Some(Part::Image {
            mime_type: words(mime_type),
        }),
        Some(_) | None => None,
    })
}

pub(super) fn read_usage(json: &mut Json<'_>) -> Option<Usage> {
    let mut usage = Usage::default();
    json.object(|json, key| {
        match key {
            "input" => usage.input = json.count()?,
            "output" => usage.output = json.count()?,
            "cacheRead" => usage.cache_read = json.count()?,
            "cacheWrite" => usage.cache_write = json.count()?,
            "cost" => usage.cost = read_cost(json)?,
            _ => _ = json.skip()?,
        }
        Some(())
    })?;
    Some(usage)
}

fn read_cost(json: &mut Json<'_>) -> Option<Option<f64>> {
    let mut total = None;
    json.object(|json, key| {
        match key {
            "total" => total = json.amount()?,
            _ => _ = json.skip()?,
        }
        Some(())
    })?;
    Some(total)
}
