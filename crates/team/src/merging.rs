//! Merging and discarding what the isolated tasks of a team have left.

use pi_subagents_runs::ask_which::find_failure;
use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_git::Conflict;
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::RunId;
use tokio::task::spawn_blocking;

use super::Team;
use super::failure::TeamError;
use super::workspace::{MergeOutcome, Merged};
use pi_subagents_ground::error::{CommandError, Kind};
use pi_subagents_ground::places::Places;
use pi_subagents_runs::acts::{self, Checkout, ToDiscard, WantedChanges};
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::merging::{Fit, HeldBackFiles, MergedAs, ToMerge};
use pi_subagents_runs::no_result::NoResult;
use pi_subagents_runs::upkeep::tend;

/// The runs that fit the checkout and each other, and those that do not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeCheck {
    /// True if all of them can be merged, one after the other.
    pub is_clean: bool,
    /// The runs that cannot both be merged.
    pub clashes: Vec<Clash>,
    /// The runs that have no result, each with the reason.
    pub without_result: Vec<(RunId, String)>,
    /// The same as a table for people.
    pub table: String,
}

/// A run that does not fit something else.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clash {
    /// The run.
    pub run: RunId,
    /// The other run; none for the checkout itself.
    pub with: Option<RunId>,
    /// The files and lines that both change.
    pub conflicts: Vec<Conflict>,
}

impl Team {
    /// Says which runs fit the checkout of the team's directory, with its uncommitted changes, and
    /// which of them fit each other. Nothing is changed.
    ///
    /// ```no_run
    /// # async fn example(team: &pi_subagents::Team, run: pi_subagents::RunId) -> Result<(), pi_subagents::TeamError> {
    /// let check = team.check_merge(&[run]).await?;
    /// if !check.is_clean {
    ///     println!("{}", check.table);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn check_merge(&self, runs: &[RunId]) -> Result<MergeCheck, TeamError> {
        let work = self.merge_work(runs);
        beside(move || acts::check(work.changes()?, check_of)).await
    }

    /// Merges what isolated runs have changed into the checkout of the team's directory, in the
    /// given order, as uncommitted changes. Each is merged whole or not at all, and nothing that is
    /// there is overwritten.
    ///
    /// An error means that nothing was merged, for example because none of the runs has a result.
    ///
    /// ```no_run
    /// # async fn example(team: &pi_subagents::Team) -> Result<(), pi_subagents::TeamError> {
    /// use pi_subagents::{MergeOutcome, Task};
    ///
    /// let tasks = [Task::new("docs", "Mend the spelling in docs/.").isolated()];
    /// let delegated = team.delegate(tasks, Vec::new()).await?;
    /// let runs: Vec<_> = delegated.outcomes.into_iter().map(|outcome| outcome.report.run_id).collect();
    /// for merged in team.merge(&runs).await? {
    ///     match merged.outcome {
    ///         MergeOutcome::Merged(files) => println!("{} files", files.len()),
    ///         other => println!("{}: {other:?}", merged.run),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn merge(&self, runs: &[RunId]) -> Result<Vec<Merged>, TeamError> {
        let work = self.merge_work(runs);
        beside(move || {
            let report = acts::merge(work.changes()?, MergedAs::Changes, HeldBackFiles::Refused)?;
            let merged = report.merged.iter().map(|merged| Merged {
                run: merged.run.run.clone(),
                outcome: MergeOutcome::of(&merged.outcome),
            });
            Ok(merged.collect())
        })
        .await
    }

    /// Discards what an isolated run has changed. Returns the ref by which git has it for 30 more
    /// days; none if the run has left nothing.
    ///
    /// ```no_run
    /// # async fn example(team: &pi_subagents::Team, run: pi_subagents::RunId) -> Result<(), pi_subagents::TeamError> {
    /// if let Some(kept) = team.discard(&run).await? {
    ///     println!("git branch NAME {kept} gets it back");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn discard(&self, run: &RunId) -> Result<Option<String>, TeamError> {
        let work = self.merge_work(std::slice::from_ref(run));
        beside(move || {
            let runs = work.named()?.into_iter().map(|run| vec![run]);
            let unwanted = ToDiscard::find(&work.known()?, &runs.collect::<Vec<_>>());
            if unwanted.found.is_empty() {
                return nothing_to_discard(unwanted.without);
            }
            let report = unwanted.discard();
            if report.discarded.is_empty() {
                return Err(NoResult::all(report.without));
            }
            let kept = report.discarded.into_iter().last();
            Ok(kept.and_then(|kept| kept.result_ref))
        })
        .await
    }

    fn merge_work(&self, runs: &[RunId]) -> MergeWork {
        MergeWork {
            index: Arc::clone(&self.service.owner.index),
            places: self.caller.places.clone(),
            cwd: self.caller.working_directory(),
            runs: runs.to_vec(),
        }
    }
}

/// The facts that a merge needs on a thread of its own.
struct MergeWork {
    index: Arc<KnownIndex>,
    places: Places,
    cwd: PathBuf,
    runs: Vec<RunId>,
}

impl MergeWork {
    fn changes(&self) -> Result<ToMerge, CommandError> {
        if self.runs.is_empty() {
            return Err(CommandError::usage("no run was named"));
        }
        let runs = self.named()?.into_iter().map(|run| vec![run]);
        let wanted = WantedChanges {
            places: &self.places.seen_from(self.cwd.clone()),
            known: &self.known()?,
            checkout: Checkout::Here,
        };
        wanted.find(&runs.collect::<Vec<_>>())
    }

    fn known(&self) -> Result<Arc<[IndexedRun]>, CommandError> {
        self.index.runs().map_err(find_failure)
    }

    /// Returns the runs that were named, each once.
    fn named(&self) -> Result<Vec<IndexedRun>, CommandError> {
        tend(&self.index, &self.places);
        let all = self.index.runs().map_err(find_failure)?;
        let mut named: Vec<IndexedRun> = Vec::new();
        for id in &self.runs {
            let found = all.iter().find(|run| run.run == *id);
            let found =
                found.ok_or_else(|| CommandError::not_found(format!("there is no run {id}")))?;
            if !named.iter().any(|run| run.run == *id) {
                named.push(found.clone());
            }
        }
        Ok(named)
    }
}

/// Returns that there is nothing, unless something kept it from being discarded.
fn nothing_to_discard(without: Vec<NoResult>) -> Result<Option<String>, CommandError> {
    let why = NoResult::all(without);
    match why.kind() {
        Kind::NoAnswer => Ok(None),
        Kind::Usage | Kind::NotFound | Kind::Failed | Kind::Interrupted => Err(why),
    }
}

fn check_of(fit: &Fit<'_>) -> MergeCheck {
    let clashes = fit.clashes().map(|(run, with, conflicts)| Clash {
        run: run.run.clone(),
        with: with.map(|with| with.run.clone()),
        conflicts: conflicts.to_vec(),
    });
    let without = fit.without.iter();
    let without = without.map(|one| (one.run.run.clone(), one.sentence()));
    MergeCheck {
        is_clean: fit.is_clean(),
        clashes: clashes.collect(),
        without_result: without.collect(),
        table: fit.table(),
    }
}

/// Does on a thread of its own what waits for git.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CommandError> + Send + 'static,
) -> Result<T, TeamError> {
    let done = spawn_blocking(work).await;
    let bug = |error| CommandError::defect("the changes could not be looked at", &error);
    Ok(done.map_err(bug)??)
}
