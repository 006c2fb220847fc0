//! A result that goes back to its sub-agent. Its directory gets the checkout as it is now, and the
//! other results that it is to stand on, so that what comes next fits.

use pi_subagents_git::{Conflict, ObjectId, Snapshot, Stack, Stacked, changes};
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::review::{MergedState, OtherWork, WorkState};
use pi_subagents_vocabulary::text::{first_of, one_line};

use super::later::ReviewNote;
use crate::acts::{Checkout, WantedChanges};
use crate::ask_which::find_failure;
use crate::known_index::KnownIndex;
use crate::merging::ToMerge;
use crate::results::{RunResult, failed};
use crate::row::RunRow;
use crate::workspace::{EarlierWorktree, place};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// At most so many conflicts are named.
const MOST_NAMED: usize = 3;

/// A result that goes back.
pub struct ReturnedResult {
    /// What its sub-agent has to know.
    pub state: WorkState,
    /// The worktree in which it goes on; `None` if nothing is merged into its directory.
    pub worktree: Option<EarlierWorktree>,
    /// The results on which it stands from now on.
    pub on: Vec<RunId>,
}

/// Looks for results, among all runs of the index.
pub struct ResultsToReturn<'a> {
    pub places: &'a Places,
    pub index: &'a KnownIndex,
}

impl ResultsToReturn<'_> {
    /// Finds out in which state a result goes back: on top of another one, if that is wanted, and of
    /// those on which it stands already. Nothing is written but objects of git.
    pub fn find(
        &self,
        run: &IndexedRun,
        on: Option<&RunId>,
    ) -> Result<ReturnedResult, CommandError> {
        let note = ReviewNote::read(&run.directory);
        let mut returned = ReturnedResult {
            state: WorkState {
                merged: None,
                failed_gate: note.failed_gate,
            },
            worktree: None,
            on: Vec::new(),
        };
        let known = self.index.runs().map_err(find_failure)?;
        let Some(result) = self.result_of(&known, run) else {
            return match on {
                Some(_) => Err(no_changes(run)),
                None => Ok(returned),
            };
        };
        let others = self.others(&known, &note.on, on)?;
        let Some((onto, merged)) = merged_state(&result, &others)? else {
            return Ok(returned);
        };
        returned.state.merged = Some(merged);
        returned.on = others.iter().map(|other| other.run.run.clone()).collect();
        returned.worktree = result.workspace.map(|workspace| EarlierWorktree {
            workspace,
            onto: Some(onto.to_string()),
        });
        Ok(returned)
    }

    /// Finds the result of a run that has a worktree on this machine.
    fn result_of(&self, known: &[IndexedRun], run: &IndexedRun) -> Option<RunResult> {
        let wanted = WantedChanges {
            places: self.places,
            known,
            checkout: Checkout::OfRun,
        };
        // A run that has left nothing goes on where it was.
        let found = wanted.find(&[vec![run.clone()]]).ok()?;
        let (_, mut results, _) = ToMerge::parted(found);
        results.pop().filter(|result| {
            let workspace = result.workspace.as_ref();
            workspace.is_some_and(|workspace| workspace.worktree.is_some())
        })
    }

    /// Finds the results to stand on: those that still wait, and the one that is wanted now.
    fn others(
        &self,
        known: &[IndexedRun],
        before: &[String],
        wanted: Option<&RunId>,
    ) -> Result<Vec<RunResult>, CommandError> {
        let find = |id: &str| known.iter().find(|one| one.run.as_str() == id);
        let mut others = Vec::new();
        for id in before
            .iter()
            .filter(|id| wanted.is_none_or(|on| on.as_str() != **id))
        {
            let result = find(id).and_then(|run| self.result_of(known, run));
            others.extend(result.filter(RunResult::waits));
        }
        if let Some(on) = wanted {
            let run = find(on.as_str())
                .ok_or_else(|| CommandError::not_found(format!("there is no run {on}")))?;
            let result = self.result_of(known, run).filter(RunResult::waits);
            others.push(result.ok_or_else(|| no_changes(run))?);
        }
        Ok(others)
    }
}

/// Puts results on top of the checkout as it is now. `None` if the result began from just that.
fn merged_state(
    result: &RunResult,
    others: &[RunResult],
) -> Result<Option<(ObjectId, MergedState)>, CommandError> {
    let of_git = |error| failed(&error);
    let Some(workspace) = &result.workspace else {
        return Ok(None);
    };
    let checkout = workspace.checkout().map_err(of_git)?;
    let now = Snapshot::take(&checkout).map_err(of_git)?.commit;
    let stack = Stack::of(&checkout).map_err(of_git)?;
    let mut onto = now.clone();
    for other in others {
        onto = match stack.put(&other.change, &onto).map_err(of_git)? {
            Stacked::State(state) => state,
            Stacked::Conflicts(conflicts) => return Err(does_not_fit(other, &conflicts)),
        };
    }
    let base = &result.change.base;
    let tree = |commit| checkout.tree_of(commit).map_err(of_git);
    if tree(base)? == tree(&onto)? {
        return Ok(None);
    }
    let files = changes(&checkout, base, &now).map_err(of_git)?.len();
    let conflicts = match stack.put(&result.change, &onto).map_err(of_git)? {
        Stacked::State(_) => Vec::new(),
        Stacked::Conflicts(conflicts) => conflicts.iter().map(file_of).collect(),
    };
    let merged = MergedState {
        commit: onto.as_str().chars().take(7).collect(),
        on: others.iter().map(work_of).collect(),
        files,
        conflicts,
    };
    Ok(Some((onto, merged)))
}

fn work_of(other: &RunResult) -> OtherWork {
    let report = RunRow::read(&other.run).report;
    OtherWork {
        name: other.run.name.clone(),
        task: report.task.unwrap_or_default(),
    }
}

/// Names a file with conflicts. Lines would be those of neither side: the file has markers by then.
fn file_of(conflict: &Conflict) -> String {
    format!("{} ({})", conflict.path.display(), conflict.kind)
}

fn does_not_fit(other: &RunResult, conflicts: &[Conflict]) -> CommandError {
    let places = first_of(conflicts.iter().map(place), MOST_NAMED, ", ");
    let name = one_line(&other.run.name);
    CommandError::failed(format!("{name} conflicts with your checkout: {places}"))
        .hint(format!("Send {name} back first."))
}

fn no_changes(run: &IndexedRun) -> CommandError {
    let name = one_line(&run.name);
    CommandError::not_found(format!("{name} has no changes here that wait to be taken"))
}
