//! Reads a streaming piece of a message, for whoever listens while it is said.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;

/// A piece of a message as it streams in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A part of text begins.
    TextStarted {
        /// Which part of the message.
        part: usize,
    },
    /// More of a text.
    Text {
        /// Which part of the message.
        part: usize,
        /// What is added.
        added: Cow<'a, str>,
    },
    /// A part of text is complete.
    TextEnded {
        /// Which part of the message.
        part: usize,
        /// All of it.
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

/// Before the piece, a line has numbers that nobody wants, most of its bytes. A text cannot hold
/// this: its quotes are escaped.
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

/// Reads a `message_update`; `None` where it tells nothing that is shown, or is none.
pub fn decode_piece(line: &[u8]) -> Option<Piece<'_>> {
    let start = memmem::find(line, EVENT)? + EVENT.len();
    let mut rest = serde_json::Deserializer::from_slice(&line[start..]);
    let event = WireEvent::deserialize(&mut rest).ok()?;
    let part = event.content_index;
    match &*event.kind {
        "text_start" => Some(Piece::TextStarted { part }),
        "text_delta" => Some(Piece::Text {
            part,
            added: event.delta?,
        }),
        "text_end" => Some(Piece::TextEnded {
            part,
            text: event.content?,
        }),
        "thinking_start" | "thinking_delta" => Some(Piece::Thinking),
        "toolcall_start" => Some(Piece::Calling {
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
            decode_piece(line.as_bytes()).map(|piece| format!("{piece:?}"))
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
        assert_eq!(decode_piece(b"no record"), None);
    }
}
