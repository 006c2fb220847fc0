//! Decides which runs a client may see and touch, and writes the answers about them.

use pi_subagents_records::{FindError, FindScope, Finder, IndexedRun, Prefers, RunOrSession};
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_vocabulary::{Door, RunSummary, SCHEMA_VERSION, Status};
use serde_json::json;

use crate::caller::Caller;
use crate::families::background::{Shown, row_text};
use crate::service::{CallService, ToolAnswer};
use crate::shared_room::{ROOM, shares};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::find::{current, status_of};
use pi_subagents_runs::live_figures::UnderWay;
use pi_subagents_runs::row::{RunRow, shown_task};
use pi_subagents_vocabulary::Counts;

/// The number of rows that a model gets; the counts are about all runs.
const MOST_ROWS: usize = 50;

/// Returns the runs that a caller may see and touch without asking for others: inside pi those of
/// its session. Of a client, those that it has started in this process, and those of the project
/// that do not end with the process in which it started them, or are over: it may have been
/// restarted since, and is known by its name.
pub fn of_caller(service: &CallService, caller: &Caller) -> Result<Vec<IndexedRun>, CommandError> {
    let ours = &service.owner.name;
    let runs = service.owner.index.runs().map_err(find_failure)?;
    if let Some(session_runs) = &caller.session_runs {
        let known = session_runs.ids();
        let own = runs.iter().filter(|run| known.contains(&run.run));
        return Ok(own.cloned().collect());
    }
    let is_own = |run: &&IndexedRun| {
        let owner = &run.owner;
        let is_ours =
            (owner.pid, owner.start_time, &owner.host) == (ours.pid, ours.start_time, &ours.host);
        let is_free = owner.detached.is_some() || !run.is_open();
        let is_here = is_ours || (is_free && run.project == caller.places.project);
        is_here && owner.caller.as_ref() == Some(&caller.name)
    };
    Ok(runs.iter().filter(is_own).cloned().collect())
}

/// Returns the runs of a caller, and all other runs of its project.
pub(super) fn with_others(
    service: &CallService,
    caller: &Caller,
) -> Result<Vec<IndexedRun>, CommandError> {
    let own = of_caller(service, caller)?;
    let is_own = |run: &IndexedRun| own.iter().any(|one| one.run == run.run);
    let runs = service.owner.index.runs().map_err(find_failure)?;
    let is_meant = |run: &&IndexedRun| run.project == caller.places.project || is_own(run);
    Ok(runs.iter().filter(is_meant).cloned().collect())
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
        let found = MEANT
            .find(runs, id)
            .map(RunOrSession::into_runs)
            .and_then(current);
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

/// How much of the answers of several runs is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// A few words of each.
    Begun,
    /// As much as there is room for.
    Shared,
}

/// Makes the answer about some runs.
pub fn answer_of(heading: String, runs: &[IndexedRun], answers: Answers, door: Door) -> ToolAnswer {
    let newest = runs.len().saturating_sub(MOST_ROWS);
    let mut under_way = UnderWay::default();
    let rows = runs[newest..].iter().map(|run| {
        let mut row = RunRow::read(run);
        if let Some(summary) = progress(run, &mut under_way) {
            row.take_progress(summary);
        }
        row.report.task = row.report.task.as_deref().map(shown_task);
        row
    });
    let rows: Vec<RunRow> = rows.collect();
    let lengths = rows.iter().map(|row| {
        let output = row.report.output.as_deref().unwrap_or_default();
        output.chars().count()
    });
    let shares = shares(&lengths.collect::<Vec<_>>(), ROOM);
    let are_shared = rows.len() == 1 || answers == Answers::Shared;
    let mut parts = vec![heading];
    let mut shown = Vec::new();
    for (row, share) in rows.into_iter().zip(shares) {
        if are_shared {
            parts.push(row_text(&row, Shown::UpTo(share), door));
            shown.push(row.cut_to(share));
        } else {
            parts.push(row_text(&row, Shown::Beginning, door));
            shown.push(row.shortened());
        }
    }
    if newest > 0 {
        parts.push(format!("{newest} older ones are not shown."));
    }
    let counts = counts(runs);
    ToolAnswer::new(
        parts.join("\n\n"),
        json!({"schemaVersion": SCHEMA_VERSION, "counts": counts, "runs": shown}),
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
