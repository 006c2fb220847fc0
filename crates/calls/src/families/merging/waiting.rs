//! The results that a caller may merge: those of its own runs.

use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_vocabulary::Advice;
use std::collections::HashSet;

use pi_subagents_records::{FindError, Found, IndexedRun, find, runs_of_session};
use pi_subagents_vocabulary::RunId;

use super::tools::MERGE;
use crate::caller::Caller;
use crate::families::runs::of_client;
use crate::service::CallService;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::conversation::of_one_conversation;
use pi_subagents_runs::results::{Asked, RunResult};
use pi_subagents_runs::tending::tend;
use pi_subagents_runs::workspace::{Workspace, WorkspaceState, waiting_results, waiting_workspace};

/// The most results that are looked for if the caller names none; the newest count.
const MOST: usize = 64;

/// Returns whether a run of this caller left something in a worktree, or in a fleet.
pub fn has_results(service: &CallService, caller: &Caller) -> bool {
    let runs = runs_of(service, caller).unwrap_or_default();
    runs.iter().any(|run| !run.is_open() && has_result(run))
}

/// Returns the runs of this caller whose results nobody has merged yet.
pub fn waiting_runs(service: &CallService, caller: &Caller) -> HashSet<RunId> {
    let runs = runs_of(service, caller).unwrap_or_default();
    let waiting = runs
        .into_iter()
        .filter(|run| waiting_workspace(run).is_some());
    waiting.map(|run| run.run).collect()
}

/// Returns the results that a caller names, or all of its results that wait.
pub fn results(
    service: &CallService,
    caller: &Caller,
    words: &[String],
) -> Result<Vec<Asked>, CommandError> {
    tend(&service.owner.index, &caller.places);
    let runs = runs_of(service, caller)?;
    if words.is_empty() {
        return all_that_wait(runs);
    }
    let results = words.iter().map(|word| {
        let meant = meant(&runs, word)?;
        RunResult::of_conversation(&meant)
    });
    let results = results.collect::<Result<Vec<_>, _>>()?;
    Ok(results.into_iter().flatten().collect())
}

/// Returns the runs of this caller, oldest first: those of its session inside pi, else those of its
/// client.
fn runs_of(service: &CallService, caller: &Caller) -> Result<Vec<IndexedRun>, CommandError> {
    let Some(session_runs) = &caller.session_runs else {
        return of_client(service, caller);
    };
    let known = session_runs.ids();
    let runs = service.owner.index.runs().map_err(find_failure)?;
    let own = runs.iter().filter(|run| known.contains(&run.run));
    Ok(own.cloned().collect())
}

fn has_result(run: &IndexedRun) -> bool {
    Workspace::read(run.directory.path())
        .is_some_and(|workspace| workspace.state != WorkspaceState::Unchanged)
}

/// Returns the results that wait, one of each worktree, in the order of their runs.
fn all_that_wait(runs: Vec<IndexedRun>) -> Result<Vec<Asked>, CommandError> {
    let all = runs.clone();
    let waiting = waiting_results(runs);
    if waiting.is_empty() {
        return Err(CommandError::no_answer("no result waits to be merged"));
    }
    let newest = &waiting[waiting.len().saturating_sub(MOST)..];
    let results = newest.iter().map(|(run, _)| {
        let session = runs_of_session(&all, &run.session);
        let asked = RunResult::asked(std::slice::from_ref(run))?;
        Ok(asked.map(|result| result.with_earlier(&session)))
    });
    results.collect()
}

/// Returns the runs that a word means: an id, its beginning, or the name of a task. If several
/// tasks have the name, the newest counts.
fn meant(runs: &[IndexedRun], word: &str) -> Result<Vec<IndexedRun>, CommandError> {
    let how = |run: &str| format!("{MERGE} with runs [\"{run}\"]");
    match find(runs, word).map(Found::into_runs) {
        Ok(found) => of_one_conversation(found, None).map_err(|error| ask_which(&error, how)),
        Err(FindError::NotFound { .. }) => match runs.iter().rev().find(|run| run.name == word) {
            Some(run) => Ok(vec![run.clone()]),
            None => Err(CommandError::not_found(format!(
                "there is no run, session or task \"{word}\" among those you have started"
            ))
            .advise("", Advice::ListRuns, ".")),
        },
        Err(error) => Err(ask_which(&error, how)),
    }
}
