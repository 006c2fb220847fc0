//! Finished runs, as lists show them. A run that is over does not change any more but for what
//! becomes of its worktree, so its files are read once for all tabs and questions.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_records::IndexedRun;
use pi_subagents_runs::workspace::{Workspace, WorkspaceState, newest_results};
use pi_subagents_vocabulary::RunId;
use serde_json::Value;

use crate::rows::{changed_files, listed, row_of};

/// The number of rows that are kept. A list of ten thousand runs is read in pieces.
const MOST_ROWS: usize = 4096;

/// Finished runs, as far as somebody has looked at them.
#[derive(Default)]
pub(crate) struct FinishedRuns {
    rows: Mutex<HashMap<RunId, Arc<FinishedRow>>>,
    worktrees: Mutex<SeenWorktrees>,
    next: AtomicU64,
}

/// The worktrees of finished runs that were looked at.
#[derive(Default)]
struct SeenWorktrees {
    /// Those that may still change.
    kept: HashMap<RunId, Worktree>,
    /// The runs that have none, or whose worktree nobody needs any more, as hashes of their ids: after
    /// some years there are very many.
    settled: HashSet<u64>,
}

/// What became of the worktree of a finished run.
#[derive(Debug, Clone, PartialEq)]
enum Worktree {
    /// It has none, or nobody has to do anything about it any more.
    Settled,
    /// Its owner has not looked at it yet.
    Unsettled,
    /// Its result waits for a person.
    Waiting(Arc<Workspace>),
    /// Its result was merged. Somebody may take it back.
    Merged,
}

/// A finished run as a list shows it.
pub(crate) struct FinishedRow {
    run: IndexedRun,
    /// A number that another row of the same run does not have.
    pub(crate) number: u64,
    pub(crate) row: Value,
    /// The files that the run changed, as far as they are known.
    pub(crate) files: Vec<String>,
}

impl FinishedRuns {
    /// Returns the row of a run. Its files are read if nobody has asked for it before.
    pub(crate) fn row(&self, run: &IndexedRun) -> Arc<FinishedRow> {
        if let Some(row) = self.rows().get(&run.run).filter(|row| row.run == *run) {
            return Arc::clone(row);
        }
        let row = row_of(run, None);
        let files = changed_files(&row);
        let row = Arc::new(FinishedRow {
            run: run.clone(),
            number: self.next.fetch_add(1, Ordering::Relaxed),
            row: listed(run, row, None),
            files,
        });
        let mut rows = self.rows();
        if rows.len() >= MOST_ROWS {
            rows.clear();
        }
        rows.insert(run.run.clone(), Arc::clone(&row));
        row
    }

    /// Returns those of the runs whose result waits to be merged or discarded, as `worktrees` lists
    /// them: without those whose result a later run holds. The runs are in the order in which they
    /// began.
    pub(crate) fn waiting<'a>(
        &self,
        runs: impl Iterator<Item = &'a IndexedRun>,
    ) -> Vec<&'a IndexedRun> {
        let newest = self.waiting_in(runs).into_iter();
        newest.map(|(run, _)| run).collect()
    }

    /// Returns the same, each with the repository in which it waits.
    pub(crate) fn waiting_with_repositories<'a>(
        &self,
        runs: impl Iterator<Item = &'a IndexedRun>,
    ) -> Vec<(IndexedRun, PathBuf)> {
        let newest = self.waiting_in(runs).into_iter();
        newest
            .map(|(run, workspace)| (run.clone(), workspace.repository.clone()))
            .collect()
    }

    fn waiting_in<'a>(
        &self,
        runs: impl Iterator<Item = &'a IndexedRun>,
    ) -> Vec<(&'a IndexedRun, Arc<Workspace>)> {
        let mut worktrees = lock(&self.worktrees);
        let finished = runs.filter(|run| !run.is_open());
        let waiting = finished.filter_map(|run| Some((run, worktrees.waiting(run)?)));
        newest_results(waiting.collect(), |(_, workspace)| &**workspace)
    }

    /// Looks again at the worktrees that may have changed: somebody may have merged or discarded a
    /// result. Returns whether that is so.
    pub(crate) fn look_again(&self, runs: &[IndexedRun]) -> bool {
        let mut worktrees = lock(&self.worktrees);
        let mut has_changed = false;
        for run in runs {
            let Some(known) = worktrees.kept.get(&run.run) else {
                continue;
            };
            let now = Worktree::of(run);
            if *known != now {
                worktrees.note(run, now);
                self.rows().remove(&run.run);
                has_changed = true;
            }
        }
        has_changed
    }

    /// Returns those of the runs whose worktree may still change.
    pub(crate) fn unsettled<'a>(
        &self,
        runs: impl Iterator<Item = &'a IndexedRun>,
    ) -> Vec<&'a IndexedRun> {
        let worktrees = lock(&self.worktrees);
        let may_change = |run: &RunId| match worktrees.kept.get(run) {
            Some(Worktree::Waiting(_) | Worktree::Unsettled) => true,
            // Whoever takes a merge back reads the queue again.
            Some(Worktree::Merged | Worktree::Settled) | None => false,
        };
        runs.filter(|run| may_change(&run.run)).collect()
    }

    fn rows(&self) -> MutexGuard<'_, HashMap<RunId, Arc<FinishedRow>>> {
        lock(&self.rows)
    }
}

impl Worktree {
    fn of(run: &IndexedRun) -> Self {
        let Some(workspace) = Workspace::read(run.directory.path()) else {
            return Self::Settled;
        };
        match workspace.state {
            WorkspaceState::Captured | WorkspaceState::Uncaptured => {
                Self::Waiting(Arc::new(workspace))
            }
            WorkspaceState::Planned | WorkspaceState::Ready => Self::Unsettled,
            WorkspaceState::Merged => Self::Merged,
            WorkspaceState::Unchanged | WorkspaceState::Discarded => Self::Settled,
        }
    }
}

impl SeenWorktrees {
    /// Returns the worktree of a run whose result waits. Its file is read the first time.
    fn waiting(&mut self, run: &IndexedRun) -> Option<Arc<Workspace>> {
        if self.settled.contains(&hash_of(run)) {
            return None;
        }
        if !self.kept.contains_key(&run.run) {
            self.note(run, Worktree::of(run));
        }
        match self.kept.get(&run.run)? {
            Worktree::Waiting(workspace) => Some(Arc::clone(workspace)),
            Worktree::Settled | Worktree::Unsettled | Worktree::Merged => None,
        }
    }

    fn note(&mut self, run: &IndexedRun, worktree: Worktree) {
        match worktree {
            Worktree::Settled => {
                self.kept.remove(&run.run);
                self.settled.insert(hash_of(run));
            }
            Worktree::Unsettled | Worktree::Waiting(_) | Worktree::Merged => {
                self.kept.insert(run.run.clone(), worktree);
            }
        }
    }
}

fn hash_of(run: &IndexedRun) -> u64 {
    let mut hasher = DefaultHasher::new();
    run.run.hash(&mut hasher);
    hasher.finish()
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
