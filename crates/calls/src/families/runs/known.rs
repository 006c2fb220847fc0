//! Decides which runs a client may see and touch, and writes the answers about them.

use pi_subagents_records::{FindError, FindScope, Finder, Found, IndexedRun, Prefers};
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_vocabulary::{RunSummary, Status};
use serde_json::json;

use crate::caller::Caller;
use crate::families::background::{Shown, row_text};
use crate::service::{CallService, ToolAnswer};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::counts::Counts;
use pi_subagents_runs::find::{current, status_of};
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::under_way::UnderWay;

/// The number of rows that a model gets; the counts are about all runs.
const MOST_ROWS: usize = 50;

/// Returns the runs of this client: those of this process, and the background runs of the project
/// that no pi session has started. A client may have been restarted since it started them.
pub fn of_client(service: &CallService, caller: &Caller) -> Result<Vec<IndexedRun>, CommandError> {
    let ours = &service.owner.name;
    let runs = service.owner.index.runs().map_err(find_failure)?;
    let is_own = |run: &&IndexedRun| match &run.owner.detached {
        None => {
            let owner = &run.owner;
            (owner.pid, owner.start_time, &owner.host) == (ours.pid, ours.start_time, &ours.host)
        }
        Some(detached) => detached.pi_session.is_none() && run.project == caller.places.project,
    };
    Ok(runs.iter().filter(is_own).cloned().collect())
}

/// The rule by which a client's word is understood: its own runs, and those at work first.
const MEANT: Finder<'static> = Finder {
    scope: FindScope::Given,
    prefers: Prefers::Running,
};

/// Returns the runs of these ids, each once. A session means its runs under way, or else its latest
/// run.
pub(super) fn meant(runs: &[IndexedRun], ids: &[String]) -> Result<Vec<IndexedRun>, CommandError> {
    let mut meant: Vec<IndexedRun> = Vec::new();
    for id in ids {
        let found = MEANT.find(runs, id).map(Found::into_runs).and_then(current);
        for run in found.map_err(|error| not_found(error, id))? {
            if !meant.iter().any(|known| known.run == run.run) {
                meant.push(run);
            }
        }
    }
    Ok(meant)
}

fn not_found(error: FindError, id: &str) -> CommandError {
    match error {
        absent if absent.is_absence() => CommandError::not_found(format!(
            "there is no run or session \"{id}\" among those you have started"
        ))
        .hint("subagent_runs with includeCompleted lists them."),
        other => ask_which(&other, |run| format!("subagent_runs with ids [\"{run}\"]")),
    }
}

/// Makes the answer about some runs: a single run with its whole result, several with the
/// beginnings of theirs.
pub fn answer_of(heading: String, runs: &[IndexedRun]) -> ToolAnswer {
    let newest = runs.len().saturating_sub(MOST_ROWS);
    let mut under_way = UnderWay::default();
    let rows = runs[newest..].iter().map(|run| {
        let mut row = RunRow::read(run);
        if let Some(summary) = progress(run, &mut under_way) {
            row.take_progress(summary);
        }
        row
    });
    let rows: Vec<RunRow> = rows.collect();
    let (rows, shown) = if rows.len() == 1 {
        (rows, Shown::Whole)
    } else {
        let rows = rows.into_iter().map(RunRow::shortened);
        (rows.collect(), Shown::Beginning)
    };
    let mut parts = vec![heading];
    parts.extend(rows.iter().map(|row| row_text(row, shown)));
    if newest > 0 {
        parts.push(format!("{newest} older ones are not shown."));
    }
    let counts = counts(runs);
    ToolAnswer::new(
        parts.join("\n\n"),
        json!({"counts": counts.json_with_queued(), "runs": rows}),
    )
}

/// Counts runs by their state. The index does not know whether a run has a place; its events do.
pub(super) fn counts(runs: &[IndexedRun]) -> Counts {
    let mut under_way = UnderWay::default();
    Counts::of(runs.iter().map(|run| match progress(run, &mut under_way) {
        Some(summary) if summary.started_at.is_none() => Status::Queued,
        Some(_) | None => status_of(run),
    }))
}

/// Returns how a run stands that is not over.
fn progress<'a>(run: &IndexedRun, under_way: &'a mut UnderWay) -> Option<&'a RunSummary> {
    run.is_open().then(|| under_way.look(run)).flatten()
}
