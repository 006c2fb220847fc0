//! Whole texts of a run, found by their places in its record.

use pi_subagents_page::{Problem, markdown};
use pi_subagents_records::{IndexedRun, event_at, raw_lines};
use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{Happening, Message, Part, RunEvent, ToolResult, text};
use serde_json::{Value, json};

use super::told::arguments_text;

/// The number of bytes of one text that are sent; the record has all of it.
const LONGEST: usize = 4 << 20;

/// The number of bytes of the record that are shown at once, and of one line of it.
const RAW_PIECE: usize = 64 << 10;
const LONGEST_RAW: usize = 4 << 10;

/// Returns the texts at these places, in their order.
pub(super) fn texts(run: &IndexedRun, places: &[(u64, usize)]) -> Result<Value, Problem> {
    let mut found = Vec::new();
    for (place, part) in places {
        let event = event_at(&run.directory, *place)
            .map_err(|error| Problem::failed(format!("{error}: {}", error.reason())))?;
        let text = event.as_ref().and_then(|event| text_of(event, *part));
        found.push(text.unwrap_or(Value::Null));
    }
    Ok(json!({ "texts": found }))
}

fn text_of(event: &RunEvent, part: usize) -> Option<Value> {
    let Happening::Said { record, .. } = &event.happening else {
        return None;
    };
    match record {
        ChildRecord::MessageEnded(Message::Assistant(answer)) => match answer.parts.get(part)? {
            Part::Text(words) => Some(json!({ "md": markdown(bounded(words)) })),
            Part::Thinking(words) => Some(plain(words)),
            Part::ToolCall(call) => Some(plain(&arguments_text(call))),
            Part::Image { .. } => None,
        },
        ChildRecord::MessageEnded(Message::ToolResult(result)) => Some(plain(&result_text(result))),
        ChildRecord::MessageEnded(message) => Some(plain(&message.text()?)),
        ChildRecord::ToolEnded { details, .. } => {
            Some(plain(details.as_ref()?.get("diff")?.as_str()?))
        }
        _ => None,
    }
}

/// Returns the answer of a tool; a picture is named.
pub(super) fn result_text(result: &ToolResult) -> String {
    let words = result.parts.iter().filter_map(|part| match part {
        Part::Text(words) => Some(text::clean(words)),
        Part::Image { mime_type } => Some(format!("[image: {mime_type}]")),
        Part::Thinking(_) | Part::ToolCall(_) => None,
    });
    words.collect::<Vec<_>>().join("\n")
}

fn plain(words: &str) -> Value {
    json!({ "text": text::clean(bounded(words)) })
}

fn bounded(words: &str) -> &str {
    &words[..words.floor_char_boundary(LONGEST)]
}

/// Returns lines of the record as they are.
pub(super) fn raw(run: &IndexedRun, from: u64) -> Result<Value, Problem> {
    let (lines, next) = raw_lines(&run.directory, from, RAW_PIECE)
        .map_err(|error| Problem::failed(format!("{error}: {}", error.reason())))?;
    let lines: Vec<Value> = lines
        .iter()
        .map(|(place, line)| {
            let shown = &line[..line.floor_char_boundary(LONGEST_RAW)];
            json!([place, text::clean(shown), shown.len() < line.len()])
        })
        .collect();
    Ok(json!({"lines": lines, "next": next}))
}
