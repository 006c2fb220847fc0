//! The spans of runs as a trace in Chrome's format, which Perfetto and others open too. Each run is a
//! process with a track for the queue and the model, and as many tracks for tools as calls ran beside
//! each other, so that nothing on one track overlaps.

use std::path::Path;

use pi_subagents_records::{IndexedRun, RecordError, read_events};
use pi_subagents_view::PreviewContext;
use pi_subagents_vocabulary::{Timestamp, text};
use serde_json::{Value, json};

use crate::json_list::JsonList;
use crate::spans::{SpanKind, Spans, TimeSpan};

/// The number of the track with the queue and the model. The tracks of tools are behind it.
const MODEL: usize = 1;

/// Returns the trace of these runs, as JSON.
pub fn trace(runs: &[IndexedRun], home: &Path) -> Result<String, RecordError> {
    let mut events = JsonList::new();
    for (place, run) in runs.iter().enumerate() {
        let mut spans = Spans::new(PreviewContext {
            home: Some(home.to_owned()),
            ..PreviewContext::default()
        });
        let mut last = run.accepted_at;
        read_events(&run.directory, |event| {
            last = event.at;
            spans.apply(event);
        })?;
        let name = text::one_line(&text::clean(&run.name));
        let name = format!("{name} ({})", run.run);
        events.extend(named(place + 1, &name));
        add_spans(&mut events, place + 1, &spans, last);
    }
    let events = events.finish();
    Ok(format!(
        r#"{{"displayTimeUnit":"ms","traceEvents":{events}}}"#
    ))
}

/// Returns the name of a process in the trace, and its place among the others.
fn named(process: usize, name: &str) -> [Value; 2] {
    let about = |what: &str, facts: Value| json!({"ph": "M", "name": what, "pid": process, "tid": 0, "args": facts});
    [
        about("process_name", json!({ "name": name })),
        about("process_sort_index", json!({ "sort_index": process })),
    ]
}

/// Adds what a run spent its time on. What still goes on is shown as far as it has come, to `last`.
fn add_spans(events: &mut JsonList, process: usize, spans: &Spans, last: Timestamp) {
    let mut tracks = Tracks::default();
    let mut sorted: Vec<&TimeSpan> = spans.all().iter().collect();
    sorted.sort_by_key(|span| span.begin);
    for span in sorted {
        let end = span.end.unwrap_or(last).max(span.begin);
        let track = match span.kind {
            SpanKind::Queued | SpanKind::Model => MODEL,
            SpanKind::Read
            | SpanKind::Search
            | SpanKind::Edit
            | SpanKind::Shell
            | SpanKind::Other => MODEL + 1 + tracks.free(span.begin, end),
        };
        events.add(&complete(span, end, process, track));
    }
    let tools = 0..tracks.ends.len();
    let tools = tools.map(|number| match number {
        0 => (MODEL + 1, "tools".to_owned()),
        _ => (MODEL + 1 + number, format!("tools {}", number + 1)),
    });
    for (track, name) in std::iter::once((MODEL, "model".to_owned())).chain(tools) {
        let about = |what: &str, facts: Value| json!({"ph": "M", "name": what, "pid": process, "tid": track, "args": facts});
        events.add(&about("thread_name", json!({ "name": name })));
        events.add(&about("thread_sort_index", json!({ "sort_index": track })));
    }
    for at in &spans.steered {
        events.add(&json!({
            "name": "steered", "cat": "steer", "ph": "i", "s": "p",
            "pid": process, "tid": MODEL, "ts": at.as_microsecond(),
        }));
    }
}

/// The tracks of tools, by the ends of their last calls.
#[derive(Default)]
struct Tracks {
    ends: Vec<Timestamp>,
}

impl Tracks {
    /// Takes the first track that is free for some time, and returns its number.
    fn free(&mut self, begin: Timestamp, end: Timestamp) -> usize {
        let free = self.ends.iter().position(|last| *last <= begin);
        let number = free.unwrap_or(self.ends.len());
        if number == self.ends.len() {
            self.ends.push(end);
        } else {
            self.ends[number] = end;
        }
        number
    }
}

/// Returns a span as an event with its duration.
fn complete(span: &TimeSpan, end: Timestamp, process: usize, track: usize) -> Value {
    let name = match (span.kind, span.label.as_str()) {
        (SpanKind::Queued, _) => "queued",
        (SpanKind::Model, "") => "model",
        (kind, "") => kind.as_str(),
        (_, label) => label,
    };
    let mark = if span.is_failed { "✗ " } else { "" };
    let begin = span.begin.as_microsecond();
    let mut facts = json!({ "failed": span.is_failed });
    if let Some(usage) = span.usage {
        facts["tokens"] = json!(usage.total());
        facts["cost"] = json!(usage.cost);
    }
    if let Some(file) = &span.file {
        facts["file"] = json!(file);
    }
    json!({
        "name": format!("{mark}{name}"), "cat": span.kind.as_str(), "ph": "X",
        "ts": begin, "dur": end.as_microsecond() - begin, "pid": process, "tid": track, "args": facts,
    })
}
