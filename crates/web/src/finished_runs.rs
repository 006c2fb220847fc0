//! Finished runs, as lists show them. A run that is over does not change any more but for what
//! becomes of its worktree, so its files are read once for all tabs and questions.

use std::collections::HashMap;
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
    worktrees: Mutex<HashMap<RunId, Worktree>>,
    next: AtomicU64,
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
        let mut worktrees = lock(&self.worktrees);
        let finished = runs.filter(|run| !run.is_open());
        let waiting = finished.filter_map(|run| {
            let known = worktrees.entry(run.run.clone());
            match known.or_insert_with(|| Worktree::of(run)) {
                Worktree::Waiting(workspace) => Some((run, Arc::clone(workspace))),
                Worktree::Settled | Worktree::Unsettled => None,
            }
        });
        let newest = newest_results(waiting.collect(), |(_, workspace)| &**workspace);
        newest.into_iter().map(|(run, _)| run).collect()
    }

    /// Looks again at the worktrees that may have changed: somebody may have merged or discarded a
    /// result. Returns whether that is so.
    pub(crate) fn look_again(&self, runs: &[IndexedRun]) -> bool {
        let mut worktrees = lock(&self.worktrees);
        let mut has_changed = false;
        for run in runs {
            let Some(known) = worktrees
                .get_mut(&run.run)
                .filter(|known| known.may_change())
            else {
                continue;
            };
            let now = Worktree::of(run);
            if *known != now {
                *known = now;
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
        let may_change = |run: &RunId| worktrees.get(run).is_some_and(Worktree::may_change);
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
            WorkspaceState::Unchanged | WorkspaceState::Merged | WorkspaceState::Discarded => {
                Self::Settled
            }
        }
    }

    fn may_change(&self) -> bool {
        match self {
            Self::Waiting(_) | Self::Unsettled => true,
            Self::Settled => false,
        }
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
