//! Long lines and many lines.

use serde_json::value::RawValue;

use crate::output;
use crate::record::{Message, Record, Streamed, ToolResult, Usage};
use crate::step::{Bulk, LineKind, Messages};

const CHUNK: usize = 1 << 20;

/// The place of the filler in a record; it occurs in no record otherwise.
const MARK: &str = "@@@@";

/// Prints one line of this size, in chunks.
pub(crate) fn line(bulk: &Bulk) {
    let (before, after) = around_text(bulk.kind);
    output::raw(before.as_bytes());
    let mut left = bulk.size().saturating_sub(before.len() + after.len());
    let filler = vec![b'x'; CHUNK.min(left)];
    while left > 0 {
        let count = left.min(CHUNK);
        output::raw(&filler[..count]);
        left -= count;
    }
    output::raw(after.as_bytes());
}

/// Prints lines until the size is reached.
pub(crate) fn flood(bulk: &Bulk) {
    let line = padded_line(bulk.kind, bulk.line_bytes);
    let lines_per_write = (CHUNK / line.len()).max(1);
    let block = line.repeat(lines_per_write);
    let mut left = bulk.size().div_ceil(line.len());
    while left > 0 {
        let count = left.min(lines_per_write);
        output::raw(&block.as_bytes()[..count * line.len()]);
        left -= count;
    }
}

/// Prints this number of assistant messages, numbered from 1.
pub(crate) fn messages(messages: &Messages) {
    for number in 1..=messages.count {
        let text = format!(
            "{:x<width$}",
            format!("message {number} "),
            width = messages.bytes
        );
        output::record(&Record::MessageEnd {
            message: &Message::text(&text),
        });
    }
}

fn padded_line(kind: LineKind, bytes: usize) -> String {
    let (before, after) = around_text(kind);
    let filler = "x".repeat(bytes.saturating_sub(before.len() + after.len()));
    format!("{before}{filler}{after}")
}

/// Returns the parts before and after the text of a record of this kind, LF included.
fn around_text(kind: LineKind) -> (String, String) {
    let line = marked(kind);
    let (before, after) = line.split_once(MARK).unwrap_or((&line, ""));
    (before.to_owned(), format!("{after}\n"))
}

fn marked(kind: LineKind) -> String {
    let message = &Message::text(MARK);
    let (tool_call_id, tool_name) = ("call_1", "bash");
    let result = ToolResult::text(MARK);
    output::json(&match kind {
        LineKind::Text => return MARK.to_owned(),
        LineKind::MessageStart => Record::MessageStart { message },
        LineKind::MessageEnd => Record::MessageEnd { message },
        LineKind::TurnEnd => Record::TurnEnd {
            message,
            tool_results: Vec::new(),
        },
        LineKind::AgentEnd => {
            let message = output::json(message);
            return format!(r#"{{"type":"agent_end","messages":[{message}],"willRetry":false}}"#);
        }
        LineKind::MessageUpdate => Record::MessageUpdate {
            usage: Usage::of_one_message(),
            assistant_message_event: Streamed::Delta {
                content_index: 0,
                delta: MARK,
            },
        },
        LineKind::ToolExecutionUpdate => Record::ToolExecutionUpdate {
            tool_call_id,
            tool_name,
            args: RawValue::NULL,
            partial_result: result,
        },
        LineKind::ToolExecutionEnd => Record::ToolExecutionEnd {
            tool_call_id,
            tool_name,
            result,
            is_error: false,
        },
    })
}
