//! Finds the changes of runs for a checkout, merges them, or says which of them would fit.

use std::path::PathBuf;

use pi_subagents_configuration::Trust;
use pi_subagents_records::{IndexedRun, RecordedRun, runs_of_session};

use crate::elsewhere::fetch_missing;
use crate::merging::{self, BranchReport, Fit, HeldBackFiles, MergeReport, MergedAs, ToMerge};
use crate::no_result::NoResult;
use crate::results::{AskedResult, Results, RunResult};
use crate::workspace::Workspace;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// The checkout that changes are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkout {
    /// That of the directory in which somebody is.
    Here,
    /// That in which the first of the runs was started.
    OfRun,
}

/// Changes that somebody wants in a checkout.
pub struct WantedChanges<'a> {
    pub places: &'a Places,
    /// All runs of the index, among which the other runs of a worktree are found.
    pub known: &'a [IndexedRun],
    pub checkout: Checkout,
}

impl WantedChanges<'_> {
    /// Finds the results of some conversations that wait, or of each the latest if none waits.
    /// Changes that a worker could not send in time are fetched first, and the other runs of a
    /// worktree are known, so that nothing of them waits after the merge. Fails if there is no
    /// result at all.
    pub fn find(&self, conversations: &[Vec<IndexedRun>]) -> Result<ToMerge, CommandError> {
        let mut results = self.results();
        let asked = conversations
            .iter()
            .map(|runs| self.of_one(&mut results, runs));
        let asked: Vec<Vec<AskedResult>> = asked.collect::<Result<_, _>>()?;
        let asked: Vec<AskedResult> = asked.into_iter().flatten().collect();
        let first = asked.iter().flatten().next();
        let directory = match (self.checkout, first) {
            (Checkout::OfRun, Some(result)) => result.repository.top().to_owned(),
            (Checkout::OfRun, None) | (Checkout::Here, _) => self.places.cwd.clone(),
        };
        let (trust, _) = Trust::read(&self.places.agent_dir);
        ToMerge::at(&directory, &trust, asked)
    }

    /// Finds the results of one conversation, oldest first.
    pub(super) fn of_one(
        &self,
        results: &mut Results,
        runs: &[IndexedRun],
    ) -> Result<Vec<AskedResult>, CommandError> {
        let missing = match self.checkout {
            Checkout::Here => fetch_missing(self.places, runs),
            Checkout::OfRun => fetch_missing(&self.places.seen_from(self.started_in(runs)), runs),
        };
        let asked = results.of_conversation(runs)?.into_iter().map(|asked| {
            let asked = asked.map(|result| self.with_earlier(result));
            asked.map_err(|without| because(without, missing.clone()))
        });
        Ok(asked.collect())
    }

    pub(super) fn results(&self) -> Results {
        match self.checkout {
            Checkout::Here => Results::here(&self.places.cwd),
            Checkout::OfRun => Results::default(),
        }
    }

    fn with_earlier(&self, result: RunResult) -> RunResult {
        let session = runs_of_session(self.known, &result.run.session);
        result.with_earlier(&session)
    }

    /// Returns the directory in which the latest of some runs was started.
    fn started_in(&self, runs: &[IndexedRun]) -> PathBuf {
        let latest = runs.last();
        let recorded = latest.and_then(|run| RecordedRun::read(&run.directory).ok());
        recorded.map_or_else(|| self.places.cwd.clone(), |run| run.task.cwd.clone())
    }
}

/// Says why there is no result: its changes could not be fetched from its fleet, if that was tried,
/// else the reason that was found here.
fn because(without: NoResult, missing: Result<(), String>) -> NoResult {
    match missing {
        Ok(()) => without,
        Err(why) => without.because(CommandError::no_answer(format!("has no result: {why}"))),
    }
}

/// Returns the runs whose changes somebody means who points at one run of a list: all runs of its
/// session in the same worktree, because the latest of them holds the changes of the others.
pub fn in_one_worktree(run: &IndexedRun, known: &[IndexedRun]) -> Vec<IndexedRun> {
    let worktree = |run: &IndexedRun| Workspace::read(run.directory.path())?.worktree;
    let Some(own) = worktree(run) else {
        return vec![run.clone()];
    };
    let mut runs = runs_of_session(known, &run.session);
    runs.retain(|other| other.run == run.run || worktree(other).as_ref() == Some(&own));
    if !runs.iter().any(|other| other.run == run.run) {
        runs.push(run.clone());
    }
    runs
}

/// Merges changes in their order, each whole or not at all.
pub fn merge(
    changes: ToMerge,
    merged_as: MergedAs,
    copies: HeldBackFiles,
) -> Result<MergeReport, CommandError> {
    merging::merge(changes, merged_as, copies)
}

/// Makes a new branch with a commit of each change, and touches neither the checkout nor its branch.
pub fn branch(changes: ToMerge, name: &str) -> Result<BranchReport, CommandError> {
    merging::branch(changes, name)
}

/// Compares changes with the checkout and with each other, and changes nothing.
pub fn check<T>(changes: ToMerge, read: impl FnOnce(&Fit<'_>) -> T) -> Result<T, CommandError> {
    let (checkout, results, without) = changes.parted();
    let fit = Fit::of(&checkout, &results)?.with_missing(without);
    Ok(read(&fit))
}
