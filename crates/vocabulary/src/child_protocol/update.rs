//! Reads an update of a message that is still being written, for readers who follow it.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;

/// An update of a message that is still being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageUpdate<'a> {
    /// A part of text begins.
    TextStarted {
        /// The index of the part of the message.
        part: usize,
    },
    /// More of a text.
    Text {
        /// The index of the part of the message.
        part: usize,
        /// The text that is added.
        added: Cow<'a, str>,
    },
    /// A part of text is complete.
    TextEnded {
        /// The index of the part of the message.
        part: usize,
        /// The whole text of the part.
        text: Cow<'a, str>,
    },
    /// The model thinks.
    Thinking,
    /// The model writes the call of a tool.
    Calling {
        /// The tool.
        tool: Cow<'a, str>,
    },
}

/// The text before the update in a line. The numbers before it, most of the bytes, are not read. A
/// text cannot hold these bytes, because its quotes are escaped.
const EVENT: &[u8] = br#""assistantMessageEvent":"#;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireEvent<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    content_index: usize,
    #[serde(default, borrow)]
    delta: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    content: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    tool_name: Option<Cow<'a, str>>,
}

/// Reads a `message_update`; `None` if it holds nothing that is shown, or if the line is no update.
pub fn decode_update(line: &[u8]) -> Option<MessageUpdate<'_>> {
    let start = memmem::find(line, EVENT)? + EVENT.len();
    let mut rest = serde_json::Deserializer::from_slice(&line[start..]);
    let event = WireEvent::deserialize(&mut rest).ok()?;
    let part = event.content_index;
    match &*event.kind {
        "text_start" => Some(MessageUpdate::TextStarted { part }),
        "text_delta" => Some(MessageUpdate::Text {
            part,
            added: event.delta?,
        }),
        "text_end" => Some(MessageUpdate::TextEnded {
            part,
            text: event.content?,
        }),
        "thinking_start" | "thinking_delta" => Some(MessageUpdate::Thinking),
        "toolcall_start" => Some(MessageUpdate::Calling {
            tool: event.tool_name?,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read_and_everything_else_is_passed_over() {
        let read = |event: &str| {
            let line = format!(
                r#"{{"type":"message_update","usage":{{}},"assistantMessageEvent":{event}}}"#
            );
            decode_update(line.as_bytes()).map(|update| format!("{update:?}"))
        };
        let pieces: Vec<String> = [
            r#"{"type":"thinking_delta","contentIndex":0,"delta":"hm"}"#,
            r#"{"type":"text_start","contentIndex":1}"#,
            r#"{"type":"text_delta","contentIndex":1,"delta":"a\n\"b\""}"#,
            r#"{"type":"text_end","contentIndex":1,"content":"ab"}"#,
            r#"{"type":"toolcall_start","contentIndex":2,"id":"1","toolName":"read"}"#,
            r#"{"type":"toolcall_delta","contentIndex":2,"delta":"{"}"#,
            r#"{"type":"text_delta","contentIndex":1}"#,
            r#"{"type":5}"#,
        ]
        .map(|event| read(event).unwrap_or_else(|| "nothing".to_owned()))
        .into();
        insta::assert_snapshot!(pieces.join("\n"), @r#"
        Thinking
        TextStarted { part: 1 }
        Text { part: 1, added: "a\n\"b\"" }
        TextEnded { part: 1, text: "ab" }
        Calling { tool: "read" }
        nothing
        nothing
        nothing
        "#);
        assert_eq!(decode_update(b"no record"), None);
    }
}
