//! The content of one HTML file about some runs: the data that the page would ask a server for,
//! with secrets taken out and a list of them.

use std::path::Path;

use pi_subagents_delegation::{Happening, Timestamp};
use pi_subagents_page::markdown;
use pi_subagents_sessions::{IndexedRun, PlacedReader, RecordError, read_events};
use pi_subagents_windows::PreviewContext;
use serde_json::{Map, Value, json};

use super::redact::Redactor;
use super::rows::{listed, row_of, whole};
use super::thin::thinned;
use super::told::{Telling, TextExtent, millisecond};
use crate::runs::row::RowTotals;
use crate::runs::spans::{Span, Spans};

/// The number of bytes of each text that a file holds.
const LONGEST_TEXT: usize = 64 << 10;

/// The number of events of one record that a file holds.
const MOST_EVENTS: usize = 50_000;

/// The number of spans of a run that a file holds.
const MOST_SPANS: usize = 5_000;

/// About how much of a record is read at a time.
const PIECE: usize = 1 << 20;

/// Returns the content of a file about these runs.
pub(crate) fn export_data(runs: &[IndexedRun], home: &Path) -> Result<Value, RecordError> {
    let mut redactor = Redactor::new(home);
    let (mut rows, mut wholes) = (Vec::new(), Map::new());
    let (mut events, mut spans) = (Map::new(), Map::new());
    let mut totals = Vec::new();
    for run in runs {
        let id = run.run.to_string();
        let row = row_of(run, None);
        let mut one = whole(run, &row);
        one["answer"] = json!(row.end.output.as_deref().map(markdown));
        one["taskTree"] = json!(row.task.as_deref().map(markdown));
        for field in ["artifacts", "directory", "ownerPid"] {
            if let Some(fields) = one.as_object_mut() {
                fields.remove(field);
            }
        }
        totals.push(row.clone());
        rows.push(redactor.clean(listed(run, row, None)));
        wholes.insert(id.clone(), redactor.clean(one));
        events.insert(id.clone(), redactor.clean(events_of(run, home)?));
        let spans_of_run = spans_of(run, home, None, Some(MOST_SPANS))?;
        spans.insert(id, redactor.clean(spans_of_run));
    }
    Ok(json!({
        "exportedAt": Timestamp::now().as_millisecond(),
        "version": env!("CARGO_PKG_VERSION"),
        "rows": rows,
        "totals": RowTotals::of(totals.iter()),
        "runs": wholes,
        "events": events,
        "spans": spans,
        "redacted": redactor.list(),
    }))
}

fn events_of(run: &IndexedRun, home: &Path) -> Result<Value, RecordError> {
    let mut reader = PlacedReader::at(&run.directory, 0)?;
    let accepted = reader.accepted().clone();
    let cwd = match &accepted.happening {
        Happening::Accepted(task) => task.cwd.clone(),
        _ => std::path::PathBuf::new(),
    };
    let extent = TextExtent::UpTo(LONGEST_TEXT);
    let mut telling = Telling::new(home.to_owned(), cwd, false, extent);
    let mut told = telling.tell_event(&accepted, 0);
    loop {
        let found = reader.next(PIECE)?;
        if found.is_empty() {
            return Ok(Value::Array(told));
        }
        told.extend(found.iter().flat_map(|one| telling.tell(one)));
        if told.len() > MOST_EVENTS {
            told.truncate(MOST_EVENTS);
            let words = "The rest of this run is left out of the file; its record has it.";
            told.push(json!({"k": "warned", "text": words, "p": reader.place(), "n": 0}));
            return Ok(Value::Array(told));
        }
    }
}

/// Returns what a run spent its time on, as the page reads it: the spans of some time, about so many
/// of each kind.
pub(super) fn spans_of(
    run: &IndexedRun,
    home: &Path,
    part: Option<(i64, i64)>,
    most: Option<usize>,
) -> Result<Value, RecordError> {
    let mut spans = Spans::new(PreviewContext {
        home: Some(home.to_owned()),
        ..PreviewContext::default()
    });
    read_events(&run.directory, |event| spans.apply(event))?;
    let steered: Vec<i64> = spans.steered.iter().copied().map(millisecond).collect();
    let (spans, is_thin) = thinned(spans.all(), part, most);
    let spans: Vec<Value> = spans.iter().map(Span::json).collect();
    Ok(json!({"from": 0, "spans": spans, "steered": steered, "isThin": is_thin}))
}
