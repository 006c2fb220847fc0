//! The content of one HTML file about some runs: the data that the page would ask a server for,
//! with secrets taken out and a list of them.

use std::path::Path;

use pi_subagents_records::{IndexedRun, RecordError, read_events};
use pi_subagents_view::PreviewContext;
use pi_subagents_vocabulary::Timestamp;
use serde_json::{Map, Value, json};

use super::markdown::markdown;
use super::page_item::{PageItem, TextExtent};
use super::placed_story::PlacedStory;
use super::redact::Redactor;
use super::rows::{clean_name, listed, row_of, whole};
use super::thin_spans::ThinSpans;
use pi_subagents_runs::json_list::JsonList;
use pi_subagents_runs::row::RowTotals;
use pi_subagents_runs::spans::{Spans, TimeSpan};

/// The number of bytes of each text that a file holds.
const LONGEST_TEXT: usize = 64 << 10;

/// The number of events of one record that a file holds.
const MOST_EVENTS: usize = 50_000;

/// The number of spans of a run that a file holds.
const MOST_SPANS: usize = 5_000;

/// About how much of a record is read at a time.
const PIECE: usize = 32 << 10;

/// The content of a file about runs.
pub struct Exported {
    /// JSON as the page reads it.
    pub data: String,
    /// The kinds of secrets that were taken out.
    pub redacted: Value,
}

/// Returns the content of a file about these runs.
pub fn export_data(runs: &[IndexedRun], home: &Path) -> Result<Exported, RecordError> {
    let mut redactor = Redactor::new(home);
    let (mut rows, mut wholes) = (Vec::new(), Map::new());
    let (mut events, mut spans) = (Vec::new(), Map::new());
    let mut totals = Vec::new();
    for run in runs {
        let id = run.run.to_string();
        let row = row_of(run, None);
        let mut one = whole(run, &row);
        one["answer"] = json!(row.report.output.as_deref().map(markdown));
        one["taskTree"] = json!(row.report.task.as_deref().map(markdown));
        for field in ["artifacts", "directory", "ownerPid"] {
            if let Some(fields) = one.as_object_mut() {
                fields.remove(field);
            }
        }
        totals.push(row.clone());
        let name = clean_name(&run.name);
        rows.push(redactor.clean(listed(run, row, None), &format!("{name}: its row")));
        one = clean_fields(one, &name, &mut redactor);
        wholes.insert(id.clone(), one);
        let items = events_of(run, &name, home, &mut redactor)?;
        events.push(format!("{}:{items}", json!(id)));
        let spans_of_run = spans_of(run, home, None, Some(MOST_SPANS))?;
        spans.insert(
            id,
            redactor.clean(spans_of_run, &format!("{name}: timeline")),
        );
    }
    let redacted = redactor.list();
    let rest = json!({
        "exportedAt": Timestamp::now().as_millisecond(),
        "version": env!("CARGO_PKG_VERSION"),
        "rows": rows,
        "totals": RowTotals::of(totals.iter()),
        "runs": wholes,
        "spans": spans,
        "redacted": redacted,
    });
    // The events are text already, because they are very many.
    let (rest, events) = (rest.to_string(), events.join(","));
    let data = format!(r#"{{"events":{{{events}}},{}"#, &rest[1..]);
    Ok(Exported { data, redacted })
}

/// Takes the secrets out of the fields of a run.
fn clean_fields(run: Value, name: &str, redactor: &mut Redactor) -> Value {
    let Value::Object(fields) = run else {
        return run;
    };
    let clean = fields.into_iter().map(|(field, value)| {
        let place = match field.as_str() {
            "answer" | "output" => "answer",
            "task" | "taskTree" => "task",
            "receipt" => "receipt",
            _ => "facts",
        };
        let value = redactor.clean(value, &format!("{name}: {place}"));
        (field, value)
    });
    Value::Object(clean.collect())
}

/// Returns the events of a run as a list, without secrets.
fn events_of(
    run: &IndexedRun,
    name: &str,
    home: &Path,
    redactor: &mut Redactor,
) -> Result<String, RecordError> {
    let extent = TextExtent::UpTo(LONGEST_TEXT);
    let mut story = PlacedStory::at(&run.directory, 0, home, extent)?;
    let mut list = JsonList::new();
    let mut add = |list: &mut JsonList, item: PageItem| {
        let item = json!(item);
        let place = match (item["t"].as_i64(), item["tool"].as_str()) {
            (Some(at), Some(tool)) => format!("{name}: transcript, {tool} at {}", time_of(at)),
            (Some(at), None) => format!("{name}: transcript at {}", time_of(at)),
            (None, _) => format!("{name}: transcript"),
        };
        list.add(&redactor.clean(item, &place));
    };
    if let Some(task) = story.take_task() {
        add(&mut list, task);
    }
    while let Some(found) = story.next(PIECE, |_| {})? {
        let room = MOST_EVENTS - list.count();
        let kept = found.into_iter().take(room);
        kept.for_each(|item| add(&mut list, item));
        if list.count() >= MOST_EVENTS {
            let words = "The rest of this run is left out of the file; its record has it.";
            list.add(&PageItem::warning(words, story.place()));
            break;
        }
    }
    Ok(list.finish())
}

/// Writes the time of day of an item, in UTC.
fn time_of(millisecond: i64) -> String {
    let at = Timestamp::from_millisecond(millisecond);
    at.map_or_else(
        |_| String::new(),
        |at| at.strftime("%H:%M:%S UTC").to_string(),
    )
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
    let mut thin = ThinSpans::new(part, most);
    read_events(&run.directory, |event| {
        spans.apply(event);
        spans.take_finished().for_each(|span| thin.add(span));
    })?;
    for span in spans.all() {
        thin.add(span.clone());
    }
    let steered = spans.steered.iter();
    let steered: Vec<i64> = steered.map(|at| at.as_millisecond()).collect();
    let (spans, is_thin) = thin.finish();
    let spans: Vec<Value> = spans.iter().map(TimeSpan::json).collect();
    Ok(json!({"from": 0, "spans": spans, "steered": steered, "isThin": is_thin}))
}
