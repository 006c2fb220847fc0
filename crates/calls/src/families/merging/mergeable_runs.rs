//! The results that a caller may merge: those of its own runs.

use pi_subagents_vocabulary::Advice;
use std::collections::HashSet;

use pi_subagents_records::{Finder, IndexedRun, RunOrSession};
use pi_subagents_vocabulary::RunId;

use super::tools::MERGE;
use crate::caller::Caller;
use crate::families::runs::of_caller;
use crate::service::CallService;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::acts::{self, Checkout, RunDiff, WantedChanges};
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::conversation::of_one_conversation;
use pi_subagents_runs::merging::ToMerge;
use pi_subagents_runs::upkeep::tend;
use pi_subagents_runs::workspace::{Workspace, WorkspaceState, waiting_results, waiting_workspace};

/// The most results that are looked for if the caller names none; the newest count.
const MOST: usize = 64;

/// Returns whether a run of this caller left something in a worktree, or in a fleet.
pub fn has_results(service: &CallService, caller: &Caller) -> bool {
    let runs = of_caller(service, caller).unwrap_or_default();
    runs.iter().any(|run| !run.is_open() && has_result(run))
}

/// Returns the runs of this caller whose results nobody has merged yet.
pub fn waiting_runs(service: &CallService, caller: &Caller) -> HashSet<RunId> {
    let runs = of_caller(service, caller).unwrap_or_default();
    let waiting = runs
        .into_iter()
        .filter(|run| waiting_workspace(run).is_some());
    waiting.map(|run| run.run).collect()
}

/// Returns the changes that a caller names, or all of its changes that wait.
pub fn changes(
    service: &CallService,
    caller: &Caller,
    words: &[String],
) -> Result<ToMerge, CommandError> {
    tend(&service.owner.index, &caller.places);
    let runs = of_caller(service, caller)?;
    let conversations = if words.is_empty() {
        all_that_wait(&runs)?
    } else {
        let meant = words.iter().map(|word| meant(&runs, word));
        meant.collect::<Result<Vec<_>, _>>()?
    };
    wanted(caller, &runs).find(&conversations)
}

/// Returns what the run that a word stands for has changed.
pub fn changes_of_one(
    service: &CallService,
    caller: &Caller,
    word: &str,
) -> Result<RunDiff, CommandError> {
    let runs = of_caller(service, caller)?;
    acts::diff(&wanted(caller, &runs), &meant(&runs, word)?)
}

/// Looks for changes for the checkout of the caller.
fn wanted<'a>(caller: &'a Caller, known: &'a [IndexedRun]) -> WantedChanges<'a> {
    WantedChanges {
        places: &caller.places,
        known,
        checkout: Checkout::Here,
    }
}

fn has_result(run: &IndexedRun) -> bool {
    Workspace::read(run.directory.path())
        .is_some_and(|workspace| workspace.state != WorkspaceState::Unchanged)
}

/// Returns the runs whose results wait, one of each worktree, in their order.
fn all_that_wait(runs: &[IndexedRun]) -> Result<Vec<Vec<IndexedRun>>, CommandError> {
    let waiting = waiting_results(runs);
    if waiting.is_empty() {
        return Err(CommandError::no_answer("no result waits to be merged"));
    }
    let newest = &waiting[waiting.len().saturating_sub(MOST)..];
    Ok(newest.iter().map(|(run, _)| vec![run.clone()]).collect())
}

/// Returns the runs that a word means among those of the caller.
fn meant(runs: &[IndexedRun], word: &str) -> Result<Vec<IndexedRun>, CommandError> {
    let how = |run: &str| format!("{MERGE} with runs [\"{run}\"]");
    let found = Finder::GIVEN.find(runs, word).map(RunOrSession::into_runs);
    let found = found.and_then(|found| of_one_conversation(found, None));
    found.map_err(|error| {
        if error.is_absence() {
            return CommandError::not_found(format!(
                "there is no run, session or task \"{word}\" among those you have started"
            ))
            .advise("", Advice::ListRuns, ".");
        }
        ask_which(&error, how)
    })
}
