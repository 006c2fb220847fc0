//! Carries out a plan, a few runs at a time, and finishes the work of a killed removal.

use crate::ask_which::find_failure;
use pi_subagents_ground::error::CommandError;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use pi_subagents_files::{self as files, HeldLock, LockError, lock_file};
use pi_subagents_records::{FindError, QuietIndex, Removal, RunDir, Store};
use pi_subagents_vocabulary::{RunId, Timestamp};
use tracing::info;

use super::choice::Choice;
use super::plan::{CleanupPlan, Going, KeptRun, Planner};

/// The number of runs that are set aside while nobody else may write to the index: a few
/// milliseconds' work.
const BATCH: usize = 200;

/// The time for which one removal waits for another one.
const PATIENCE: Duration = Duration::from_secs(10);

/// The outcome of a removal.
#[derive(Debug, Default)]
pub struct Swept {
    pub removed: Vec<Going>,
    pub kept: Vec<KeptRun>,
    /// Sentences about everything that could not be done.
    pub problems: Vec<String>,
    /// This is true if the removal stopped at its limits before it was done.
    pub is_cut: bool,
}

/// The largest amount of work for one removal.
#[derive(Debug, Clone, Copy)]
pub struct SweepLimits {
    pub(crate) runs: usize,
    pub(crate) time: Duration,
}

/// The reason why nothing was removed.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    #[error(transparent)]
    Index(#[from] FindError),
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl From<SweepError> for CommandError {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Index(error) => find_failure(error),
            SweepError::Lock(error) => {
                Self::failed("another process removes runs or writes to the index")
                    .because(&error)
                    .hint("Try again when it is done.")
            }
        }
    }
}

impl SweepLimits {
    /// No limits: somebody waits for the whole removal.
    pub const NONE: Self = Self {
        runs: usize::MAX,
        time: Duration::MAX,
    };
}

/// Plans a removal without removing anything.
pub fn plan(store: &Store, choice: Choice, now: Timestamp) -> Result<CleanupPlan, SweepError> {
    let runs = store.runs()?;
    Ok(Planner::new(Removal::new(store), choice, now).plan(&runs))
}

/// Removes the chosen runs that may go.
pub fn sweep(
    store: &Store,
    choice: Choice,
    now: Timestamp,
    limits: SweepLimits,
) -> Result<Swept, SweepError> {
    let _alone = lock(store)?;
    let planner = Planner::new(Removal::new(store), choice, now);
    let mut sweep = Sweep {
        store,
        planner,
        now,
        left: Vec::new(),
        length: None,
        swept: Swept::default(),
    };
    sweep.finish_earlier()?;
    sweep.look()?;
    let begun = Instant::now();
    while !sweep.left.is_empty() {
        if sweep.swept.removed.len() >= limits.runs || begun.elapsed() >= limits.time {
            sweep.swept.is_cut = true;
            break;
        }
        sweep.remove_some()?;
    }
    Ok(sweep.end())
}

/// A removal under way.
struct Sweep<'a> {
    store: &'a Store,
    planner: Planner<'a>,
    now: Timestamp,
    /// The runs that are still to be removed.
    left: Vec<Going>,
    /// The length of the index when that was decided.
    length: Option<u64>,
    swept: Swept,
}

impl Sweep<'_> {
    /// Decides which runs go.
    fn look(&mut self) -> Result<(), SweepError> {
        // The length is taken first: if somebody notes something meanwhile, it differs later.
        self.length = fs::metadata(self.store.index())
            .ok()
            .map(|index| index.len());
        let plan = self.planner.plan(&self.store.runs()?);
        self.swept.kept = plan.kept;
        self.left = plan.going;
        Ok(())
    }

    /// Removes the next few runs. No run begins meanwhile, so the decision holds.
    fn remove_some(&mut self) -> Result<(), SweepError> {
        let index = QuietIndex::wait(self.store, self.now)?;
        if index.index_length().ok() != self.length {
            self.decide_again()?;
        }
        let rest = self.left.split_off(BATCH.min(self.left.len()));
        let mut set_aside = Vec::with_capacity(BATCH);
        for going in std::mem::replace(&mut self.left, rest) {
            match index.set_aside(&mut self.planner.removal, &going.run) {
                Ok(()) => set_aside.push(going),
                Err(error) => self.swept.fail(&going.run.directory, &error),
            }
        }
        self.length = index.index_length().ok();
        drop(index);
        for going in set_aside {
            let (directory, run) = (&going.run.directory, &going.run.run);
            if let Err(error) = self.planner.removal.delete(directory, run) {
                self.swept.fail(directory, &error);
            }
            self.swept.removed.push(going);
        }
        Ok(())
    }

    /// Decides again, because somebody has noted something: a session may have been continued.
    fn decide_again(&mut self) -> Result<(), SweepError> {
        let plan = self.planner.plan(&self.store.runs()?);
        let left: HashSet<RunId> = self.left.drain(..).map(|going| going.run.run).collect();
        let still = plan.going.into_iter();
        self.left = still
            .filter(|going| left.contains(&going.run.run))
            .collect();
        self.swept.kept = plan.kept;
        Ok(())
    }

    /// Deletes the set-aside directories of a killed removal, and enters those runs again that it
    /// had only noted: the decision about them is made anew.
    fn finish_earlier(&mut self) -> Result<(), SweepError> {
        for removed in self.store.removed_runs()? {
            let (directory, run) = (&removed.directory, &removed.run);
            let deleted = self.planner.removal.delete(directory, run);
            let finished = deleted.and_then(|_| self.store.bring_back(&removed));
            if let Err(error) = finished {
                self.swept.fail(directory, &error);
            }
        }
        Ok(())
    }

    fn end(mut self) -> Swept {
        if !self.swept.removed.is_empty()
            && let Err(problem) = compact(self.store, self.now)
        {
            self.swept.problems.push(problem);
        }
        let (removed, kept) = (self.swept.removed.len(), self.swept.kept.len());
        info!(
            removed,
            kept,
            problems = self.swept.problems.len(),
            "sweep has ended"
        );
        self.swept
    }
}

impl Swept {
    fn fail(&mut self, directory: &RunDir, error: &io::Error) {
        let shown = directory.path().display();
        self.problems
            .push(format!("could not remove {shown}: {error}"));
    }
}

fn compact(store: &Store, now: Timestamp) -> Result<(), String> {
    let index = QuietIndex::wait(store, now).map_err(|error| error.to_string())?;
    let shown = store.index();
    let shown = shown.display();
    index
        .compact()
        .map_err(|error| format!("could not shorten {shown}: {error}"))
}

/// Waits for another removal, and keeps others waiting.
fn lock(store: &Store) -> Result<HeldLock, LockError> {
    let path = store.index().with_file_name("subagents-clean.lock");
    if let Some(directory) = path.parent() {
        // Without the directory there is no lock either, and the error of the lock is clearer.
        _ = files::create_directories(directory);
    }
    lock_file(&path, PATIENCE)
}
