//! `background_agent_status`: counts, rows and results.

use pi_subagents_sessions::{FindError, IndexedRun, RecordedRun};
use serde_json::{Value, json};

use super::text::{self, Shown};
use super::tools::StatusCall;
use crate::calls::arguments;
use crate::calls::caller::Caller;
use crate::calls::detached::background_counts;
use crate::calls::service::{CallService, ToolAnswer};
use crate::error::CommandError;
use crate::runs::counts::Counts;
use crate::runs::find::find_runs;
use crate::runs::owned::current_runs;
use crate::runs::row::Row;

/// How many rows a model is shown; the counts tell of all.
const MOST_ROWS: usize = 50;

/// Tells what the background runs do: inside pi those of its session, else all of this user.
pub(crate) fn background_agent_status(
    service: &CallService,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    let call: StatusCall = arguments::read(arguments)?;
    let (counts, rows) = match &service.background {
        Some(registry) => registry.rows(),
        None => recorded(service, caller, &call)?,
    };
    if let Some(id) = &call.run_id {
        return Ok(answer(counts, &[one(rows, id)?], Shown::Whole));
    }
    let shown: Vec<Row> = rows
        .into_iter()
        .filter(|row| call.include_completed || !row.is_over())
        .map(Row::shortened)
        .collect();
    Ok(answer(counts, &shown, Shown::Beginning))
}

/// The runs of the index, with those of its rows that are asked for.
fn recorded(
    service: &CallService,
    caller: &Caller,
    call: &StatusCall,
) -> Result<(Counts, Vec<Row>), CommandError> {
    let store = &service.owner.store;
    // Which runs of all a beginning of an id means, the store knows best.
    let found = match &call.run_id {
        Some(id) => Some(find_runs(store, &caller.places, id).or_else(not_found)?),
        None => None,
    };
    let mut runs = current_runs(store)?;
    let counts = background_counts(&runs, &caller.places);
    runs.retain(IndexedRun::is_background);
    runs.retain(|run| match &found {
        Some(found) => found.iter().any(|one| one.run == run.run),
        None => run.is_open() || (call.include_completed && run.project == caller.places.project),
    });
    let newest = runs.len().saturating_sub(MOST_ROWS);
    let rows = runs.iter().skip(newest).filter_map(row).collect();
    Ok((counts, rows))
}

fn row(run: &IndexedRun) -> Option<Row> {
    Some(Row::of(&RecordedRun::read(&run.directory).ok()?))
}

fn not_found(error: FindError) -> Result<Vec<IndexedRun>, CommandError> {
    match error {
        FindError::NotFound(_) => Ok(Vec::new()),
        other => Err(other.into()),
    }
}

/// The run with this id, or the latest of the session with it.
fn one(rows: Vec<Row>, id: &str) -> Result<Row, CommandError> {
    let is_meant = |row: &Row| row.run_id.starts_with(id) || row.session_id.starts_with(id);
    let row = rows.into_iter().rfind(is_meant).ok_or_else(|| {
        CommandError::not_found(format!("there is no background run \"{id}\""))
            .hint("background_agent_status with includeCompleted lists them.")
    })?;
    // The record has the whole answer.
    let recorded = RecordedRun::read(&row.directory()).ok();
    let recorded = recorded.filter(|run| run.end.is_some());
    Ok(recorded.map_or(row, |run| Row::of(&run)))
}

fn answer(counts: Counts, rows: &[Row], shown: Shown) -> ToolAnswer {
    let mut parts = vec![text::counts(counts)];
    parts.extend(rows.iter().map(|row| text::row(row, shown)));
    if rows.is_empty() && counts.total() > 0 {
        parts.push("None is running. includeCompleted lists those that are over.".to_owned());
    }
    ToolAnswer::new(
        parts.join("\n\n"),
        json!({"counts": counts.json(), "runs": rows}),
    )
}
