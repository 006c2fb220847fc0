//! Whole texts of a run, found by their places in its record.

use pi_subagents_records::{IndexedRun, event_at, raw_lines};
use pi_subagents_view::story::{self, Story, What};
use pi_subagents_vocabulary::{RunEvent, ToolCall, text};
use serde_json::{Value, json};

use super::markdown::markdown;
use super::problem::Problem;

/// The number of bytes of one text that are sent; the record has all of it.
const LONGEST: usize = 4 << 20;

/// The number of bytes of the record that are shown at once, and of one line of it.
const RAW_PIECE: usize = 64 << 10;
const LONGEST_RAW: usize = 4 << 10;

/// Returns the texts at these places, in their order.
pub(super) fn texts(run: &IndexedRun, places: &[(u64, usize)]) -> Result<Value, Problem> {
    let mut found = Vec::new();
    for (place, part) in places {
        let event = event_at(&run.directory, *place)?;
        let text = event.as_ref().and_then(|event| text_of(event, *part));
        found.push(text.unwrap_or(Value::Null));
    }
    Ok(json!({ "texts": found }))
}

fn text_of(event: &RunEvent, part: usize) -> Option<Value> {
    let items = Story::default().apply(event);
    let item = items.into_iter().find(|item| item.number == part)?;
    match item.what {
        What::Task(words) | What::Thought(words) => Some(plain(words)),
        What::Prompt(words) => Some(plain(&words)),
        What::Words(words) => Some(json!({ "md": markdown(bounded(words)) })),
        What::Call(call) => Some(plain(&arguments_text(call))),
        What::Answer(result) => Some(plain(&story::words(&result.parts))),
        What::Done { details, .. } => Some(plain(details?.get("diff")?.as_str()?)),
        What::Remark(remark) => Some(plain(&remark.text)),
        What::Picture(_) | What::Begun { .. } | What::Turn(_) | What::Retry(_) | What::Ended(_) => {
            None
        }
    }
}

/// Writes the arguments of a call as a person reads them.
pub(super) fn arguments_text(call: &ToolCall) -> String {
    match &call.arguments {
        Value::Object(fields) => {
            let lines = fields.iter().map(|(name, value)| match value {
                Value::String(words) if words.contains('\n') => format!("{name}:\n{words}"),
                Value::String(words) => format!("{name}: {words}"),
                other => format!("{name}: {other}"),
            });
            text::clean(&lines.collect::<Vec<_>>().join("\n"))
        }
        other => text::clean(&other.to_string()),
    }
}

fn plain(words: &str) -> Value {
    json!({ "text": text::clean(bounded(words)) })
}

fn bounded(words: &str) -> &str {
    &words[..words.floor_char_boundary(LONGEST)]
}

/// Returns lines of the record as they are.
pub(super) fn raw(run: &IndexedRun, from: u64) -> Result<Value, Problem> {
    let (lines, next) = raw_lines(&run.directory, from, RAW_PIECE)?;
    let lines: Vec<Value> = lines
        .iter()
        .map(|(place, line)| {
            let shown = &line[..line.floor_char_boundary(LONGEST_RAW)];
            json!([place, text::clean(shown), shown.len() < line.len()])
        })
        .collect();
    Ok(json!({"lines": lines, "next": next}))
}
