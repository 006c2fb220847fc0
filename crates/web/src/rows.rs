//! Rows as the page reads them: the JSON of `status`, and the further fields of a list.

use pi_subagents_records::{IndexedRun, RecordedRun};
use pi_subagents_vocabulary::{RunSummary, Timestamp, text};
use serde_json::{Value, json};

use super::callers::group_of;
use pi_subagents_runs::row::RunRow;

/// The number of characters of a task that a list holds.
const SHOWN_TASK: usize = 300;

/// The part of a row that is known only of a run under way.
#[derive(Debug, Default)]
pub(super) struct Doing {
    /// The present activity in one line.
    pub(super) line: String,
    /// The time of its last event.
    pub(super) last_at: Option<Timestamp>,
}

/// Returns the row of a run, with the facts of its record and of its events so far.
pub(super) fn row_of(run: &IndexedRun, progress: Option<&RunSummary>) -> RunRow {
    let mut row = match RecordedRun::read(&run.directory) {
        Ok(mut record) => {
            if run.is_open() {
                // The run ended just now. The index will have it, and the counts with it.
                record.end = None;
            }
            RunRow::of_index_and_record(run, &record)
        }
        Err(error) => RunRow::with_problem(run, error),
    };
    if let Some(summary) = progress {
        row.take_progress(summary);
    }
    row
}

/// Returns a row for a list.
pub(super) fn listed(run: &IndexedRun, row: RunRow, doing: Option<&Doing>) -> Value {
    let (outcome, notice) = (row.outcome_line(), row.notice());
    let mut row = row.shortened();
    row.artifacts = None;
    row.report.output = None;
    let task = row.report.task.take();
    row.report.task =
        task.map(|task| text::cut_characters(&text::one_line(&text::clean(&task)), SHOWN_TASK));
    let mut value = whole(run, &row);
    value["doing"] = match doing {
        Some(doing) => json!(doing.line),
        None => json!(text::cut_characters(&outcome, SHOWN_TASK)),
    };
    value["notice"] = json!(notice);
    let last_at = doing.and_then(|doing| doing.last_at);
    value["lastAt"] = json!(last_at.map(Timestamp::as_millisecond));
    value
}

/// Returns all of a row. A model may have picked the name, so that is cleaned as answers are: it
/// stands beside words of the page, which it must not reorder.
pub(super) fn whole(run: &IndexedRun, row: &RunRow) -> Value {
    let mut value = serde_json::to_value(row).unwrap_or_default();
    value["name"] = json!(clean_name(&row.report.name));
    value["sequence"] = json!(run.sequence);
    let (group, label) = group_of(&run.owner);
    value["group"] = json!(group);
    value["groupLabel"] = json!(label);
    value
}

/// Returns a name as it may stand among other words.
pub(super) fn clean_name(name: &str) -> String {
    text::one_line(&text::clean(name))
}

/// Returns the files that a run changed: exactly where git knows them, else those that its tools
/// named.
pub(super) fn changed_files(row: &RunRow) -> Vec<String> {
    let workspace = row.workspace.as_deref();
    if let Some(left) = workspace.and_then(|workspace| workspace.left.as_ref()) {
        return left.files.iter().map(|file| file.path.clone()).collect();
    }
    let receipt = row.report.receipt.as_deref();
    receipt.map_or_else(Vec::new, |receipt| receipt.files.changed.clone())
}
