//! The spans of runs as a trace in Chrome's format, which Perfetto opens too. Calls overlap, so
//! each is an asynchronous event of its run.

use std::path::Path;

use pi_subagents_delegation::{Timestamp, text};
use pi_subagents_sessions::{IndexedRun, RecordError, read_events};
use pi_subagents_windows::PreviewContext;
use serde_json::{Value, json};

use crate::runs::spans::{Span, SpanKind, Spans};

/// Returns the trace of these runs. Each run is a process in the trace.
pub(crate) fn trace(runs: &[IndexedRun], home: &Path) -> Result<Value, RecordError> {
    let mut events = Vec::new();
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
        let process = place + 1;
        let name = text::one_line(&text::clean(&run.name));
        events.push(json!({
            "name": "process_name", "ph": "M", "pid": process, "tid": 0,
            "args": {"name": format!("{name} ({})", run.run)},
        }));
        for (number, span) in spans.all().iter().enumerate() {
            // A run that still goes on is shown as far as it has come.
            let end = span.end.unwrap_or(last);
            events.extend(events_of(span, end, process, number));
        }
        for at in &spans.steered {
            events.push(json!({
                "name": "steered", "cat": "steer", "ph": "i", "s": "p",
                "pid": process, "tid": 0, "ts": microseconds(*at),
            }));
        }
    }
    Ok(json!({"traceEvents": events, "displayTimeUnit": "ms"}))
}

fn events_of(span: &Span, end: Timestamp, process: usize, number: usize) -> [Value; 2] {
    let name = match (span.kind, span.label.as_str()) {
        (SpanKind::Queued, _) => "queued",
        (SpanKind::Model, "") => "model",
        (kind, "") => kind.as_str(),
        (_, label) => label,
    };
    let id = format!("{process}.{number}");
    let mut begin = json!({
        "name": name, "cat": span.kind.as_str(), "ph": "b", "id": id,
        "pid": process, "tid": 0, "ts": microseconds(span.begin), "args": {},
    });
    if span.is_failed {
        begin["args"]["failed"] = json!(true);
    }
    if let Some(usage) = span.usage {
        begin["args"]["tokens"] = json!(usage.total());
        begin["args"]["cost"] = json!(usage.cost);
    }
    let end = json!({
        "name": name, "cat": span.kind.as_str(), "ph": "e", "id": id,
        "pid": process, "tid": 0, "ts": microseconds(end),
    });
    [begin, end]
}

fn microseconds(at: Timestamp) -> i64 {
    at.as_microsecond()
}
