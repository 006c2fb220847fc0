//! `background_agent_status`: counts, rows and results.

use pi_subagents_records::{FindError, Finder, IndexedRun, RecordedRun, RunOrSession};
use pi_subagents_runs::ask_which::find_failure;
use serde_json::{Value, json};

use super::text::{self, Shown};
use super::tools::StatusCall;
use crate::arguments;
use crate::caller::Caller;
use crate::detached_process::background_counts;
use crate::service::{CallService, ToolAnswer};
use crate::shared_room::ROOM;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::conversation::{MayBeRecorded, of_one_conversation};
use pi_subagents_runs::entries::begin_of;
use pi_subagents_runs::find::find_runs;
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::session_runs::SessionRuns;
use pi_subagents_runs::upkeep::tend_records;
use pi_subagents_vocabulary::Counts;
use pi_subagents_vocabulary::Door;

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
        Some(session_runs) => status_in_pi(session_runs, &call, caller.door),
        None => status_of_user(service, caller, &call),
    }
}

fn status_in_pi(
    session_runs: &SessionRuns,
    call: &StatusCall,
    door: Door,
) -> Result<ToolAnswer, CommandError> {
    let counts = session_runs.background_counts();
    let mut rows = session_runs.background();
    if let Some(id) = &call.run_id {
        let row = latest(
            Finder::GIVEN.find(&rows, id).map(RunOrSession::into_runs),
            id,
        )?;
        return Ok(answer_about(counts, row, door));
    }
    rows.retain(|row| call.include_completed || !row.is_over());
    Ok(answer_about_all(counts, rows, door))
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
        return Ok(answer_about(counts, RunRow::read(&run), caller.door));
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
        caller.door,
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

fn answer_about(counts: Counts, row: RunRow, door: Door) -> ToolAnswer {
    // The record has the whole answer; a row of pi's session has its beginning.
    let record = row
        .directory()
        .map(|directory| RecordedRun::read(&directory));
    let row = match record {
        Some(Ok(record)) if record.end.is_some() => RunRow::of_record(&record),
        Some(_) | None => row,
    };
    let room = match door {
        Door::Mcp => ROOM,
        Door::CommandLine | Door::Pi | Door::PiCommand | Door::Attach | Door::Page => usize::MAX,
    };
    answer(counts, vec![row], Shown::UpTo(room), door)
}

fn answer_about_all(counts: Counts, rows: Vec<RunRow>, door: Door) -> ToolAnswer {
    let rows = rows.into_iter().map(RunRow::shortened);
    answer(counts, rows.collect(), Shown::Beginning, door)
}

fn answer(counts: Counts, rows: Vec<RunRow>, shown: Shown, door: Door) -> ToolAnswer {
    let mut parts = vec![text::counts(counts)];
    parts.extend(
        rows.iter()
            .map(|row| text::background_row(row, shown, door)),
    );
    if rows.is_empty() && counts.total() > 0 {
        parts.push("None is running. includeCompleted lists finished runs.".to_owned());
    }
    let rows = rows.into_iter().map(|row| match shown {
        Shown::UpTo(room) => row.without_owner().cut_to(room),
        Shown::Beginning => row.without_owner(),
    });
    let rows: Vec<Value> = rows.map(|row| begin_of(&row)).collect();
    ToolAnswer::new(
        parts.join("\n\n"),
        json!({"counts": counts.background_json(), "runs": rows}),
    )
}
