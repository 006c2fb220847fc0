//! `background_agent_status`: counts, rows and results.

use pi_subagents_records::{FindError, Finder, Found, IndexedRun, RecordedRun};
use pi_subagents_runs::ask_which::find_failure;
use serde_json::{Value, json};

use super::text::{self, Shown};
use super::tools::StatusCall;
use crate::arguments;
use crate::caller::Caller;
use crate::detached::background_counts;
use crate::service::{CallService, ToolAnswer};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::conversation::{MayBeRecorded, of_one_conversation};
use pi_subagents_runs::counts::Counts;
use pi_subagents_runs::find::find_runs;
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::session_runs::SessionRuns;
use pi_subagents_runs::tending::tend_records;

/// The number of rows that a model gets; the counts are about all runs.
const MOST_ROWS: usize = 50;

/// Lists the background runs: inside pi those of its session, else all of this user.
pub(crate) fn background_agent_status(
    service: &CallService,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    let call: StatusCall = arguments::read(arguments)?;
    match &caller.session_runs {
        Some(session_runs) => status_in_pi(session_runs, &call),
        None => status_of_user(service, caller, &call),
    }
}

fn status_in_pi(session_runs: &SessionRuns, call: &StatusCall) -> Result<ToolAnswer, CommandError> {
    let counts = session_runs.background_counts();
    let mut rows = session_runs.background();
    if let Some(id) = &call.run_id {
        let row = latest(Finder::GIVEN.find(&rows, id).map(Found::into_runs), id)?;
        return Ok(answer_about(counts, row));
    }
    rows.retain(|row| call.include_completed || !row.is_over());
    Ok(answer_about_all(counts, rows))
}

fn status_of_user(
    service: &CallService,
    caller: &Caller,
    call: &StatusCall,
) -> Result<ToolAnswer, CommandError> {
    let index = &service.owner.index;
    tend_records(index, &caller.places);
    // Before the index is read for the counts: a run may only be found where its project is.
    let found = call
        .run_id
        .as_ref()
        .map(|id| (id, find_runs(index, &caller.places, id)));
    let runs = index.runs().map_err(find_failure)?;
    let counts = background_counts(&runs, &caller.places);
    if let Some((id, found)) = found {
        let background = |mut found: Vec<IndexedRun>| {
            found.retain(IndexedRun::is_background);
            found
        };
        let run = latest(found.map(background), id)?;
        return Ok(answer_about(counts, RunRow::read(&run)));
    }
    let is_shown = |run: &IndexedRun| {
        run.is_open() || (call.include_completed && run.project == caller.places.project)
    };
    let runs = runs
        .iter()
        .filter(|run| run.is_background() && is_shown(run));
    let runs: Vec<&IndexedRun> = runs.collect();
    let newest = runs.len().saturating_sub(MOST_ROWS);
    let records = runs.into_iter().skip(newest);
    Ok(answer_about_all(
        counts,
        records.map(RunRow::read).collect(),
    ))
}

/// Returns the run that was found, or the latest of the session that was found.
fn latest<R: MayBeRecorded>(found: Result<Vec<R>, FindError>, id: &str) -> Result<R, CommandError> {
    let how = |run: &str| format!("background_agent_status with runId {run}");
    let runs = match found {
        Err(error) if error.is_absence() => Vec::new(),
        Err(error) => return Err(ask_which(&error, how)),
        Ok(runs) => of_one_conversation(runs, None).map_err(|error| ask_which(&error, how))?,
    };
    runs.into_iter().next_back().ok_or_else(|| {
        CommandError::not_found(format!("there is no background run \"{id}\""))
            .hint("background_agent_status with includeCompleted lists them.")
    })
}

fn answer_about(counts: Counts, row: RunRow) -> ToolAnswer {
    // The record has the whole answer; a row of pi's session has its beginning.
    let record = row
        .directory()
        .map(|directory| RecordedRun::read(&directory));
    let row = match record {
        Some(Ok(record)) if record.end.is_some() => RunRow::of_record(&record),
        Some(_) | None => row,
    };
    answer(counts, vec![row], Shown::Whole)
}

fn answer_about_all(counts: Counts, rows: Vec<RunRow>) -> ToolAnswer {
    let rows = rows.into_iter().map(RunRow::shortened);
    answer(counts, rows.collect(), Shown::Beginning)
}

fn answer(counts: Counts, rows: Vec<RunRow>, shown: Shown) -> ToolAnswer {
    let mut parts = vec![text::counts(counts)];
    parts.extend(rows.iter().map(|row| text::row(row, shown)));
    if rows.is_empty() && counts.total() > 0 {
        parts.push("None is running. includeCompleted lists those that are over.".to_owned());
    }
    let rows: Vec<RunRow> = rows.into_iter().map(RunRow::without_owner).collect();
    ToolAnswer::new(
        parts.join("\n\n"),
        json!({"counts": counts.json(), "runs": rows}),
    )
}
