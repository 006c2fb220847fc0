//! The results that nobody has merged or discarded yet.

use std::collections::HashSet;

use pi_subagents_records::IndexedRun;

use super::Workspace;

/// Lists the runs whose results wait to be merged, in the order of the runs, without those whose
/// result a later one holds.
pub fn waiting_results<'a>(
    runs: impl IntoIterator<Item = &'a IndexedRun>,
) -> Vec<(IndexedRun, Workspace)> {
    let waiting = runs.into_iter().filter_map(|run| {
        let workspace = waiting_workspace(run)?;
        Some((run.clone(), workspace))
    });
    newest_results(waiting.collect(), |(_, workspace)| workspace)
}

/// Returns the workspace of a run that is over, if its result waits to be merged.
pub fn waiting_workspace(run: &IndexedRun) -> Option<Workspace> {
    if run.is_open() {
        return None;
    }
    Workspace::read(run.directory.path()).filter(Workspace::is_unmerged)
}

/// Leaves out the runs whose result a later one holds, because it worked in the same worktree or
/// began from that result. The runs are in the order in which they began.
pub fn newest_results<T>(runs: Vec<T>, workspace: impl Fn(&T) -> &Workspace) -> Vec<T> {
    let (mut paths, mut begins) = (HashSet::new(), HashSet::new());
    let mut is_newest = |run: &T| {
        let workspace = workspace(run);
        let result = workspace.left.as_ref().map(|left| &left.result);
        let is_begun_from = result.is_some_and(|result| begins.contains(result));
        begins.extend(workspace.begin.clone());
        let path = workspace.path();
        let is_last_there = path.is_none_or(|path| paths.insert(path.to_owned()));
        is_last_there && !is_begun_from
    };
    let newest = runs.into_iter().rev().filter(|run| is_newest(run));
    let mut newest: Vec<T> = newest.collect();
    newest.reverse();
    newest
}
