//! The results that nobody has merged or discarded yet.

use std::collections::HashSet;

use pi_subagents_sessions::IndexedRun;

use super::Workspace;

/// Lists the runs whose results wait to be merged, the newest of each worktree, in the order of the
/// runs. A run of a fleet has no worktree here, and a result of its own.
pub(crate) fn waiting_results(runs: Vec<IndexedRun>) -> Vec<(IndexedRun, Workspace)> {
    let waiting = runs.into_iter().filter_map(|run| {
        let workspace = waiting_workspace(&run)?;
        Some((run, workspace))
    });
    newest_of_each_worktree(waiting.collect(), |(_, workspace)| workspace)
}

/// Returns the workspace of a run that is over, if its result waits to be merged.
pub(crate) fn waiting_workspace(run: &IndexedRun) -> Option<Workspace> {
    if run.is_open() {
        return None;
    }
    Workspace::read(run.directory.path()).filter(Workspace::is_unmerged)
}

/// Leaves out the runs in whose worktree a later one has worked: its result holds theirs. The runs
/// are in the order in which they began.
pub(crate) fn newest_of_each_worktree<T>(
    runs: Vec<T>,
    workspace: impl Fn(&T) -> &Workspace,
) -> Vec<T> {
    let mut seen = HashSet::new();
    let mut is_newest = |run: &T| {
        let path = workspace(run).path();
        path.is_none_or(|path| seen.insert(path.to_owned()))
    };
    let newest = runs.into_iter().rev().filter(|run| is_newest(run));
    let mut newest: Vec<T> = newest.collect();
    newest.reverse();
    newest
}
