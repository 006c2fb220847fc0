//! The work that runs need and that nobody else does: runs whose owner is gone are closed, runs of
//! a fleet that nobody follows are fetched, and worktrees that nobody looked after are settled.
//!
//! A command that needs this does it once when it begins, and whoever watches runs does it when
//! something may have happened. Everybody else only looks at the index. None of it runs a program
//! that a child has written.

use std::collections::BTreeSet;
use std::path::Path;

use pi_subagents_engine::{end_leftovers, remove_abandoned_sockets};
use pi_subagents_records::{Finder, IndexedRun, Store};
use pi_subagents_vocabulary::RunId;

use crate::elsewhere::elsewhere;
use crate::known_index::KnownIndex;
use crate::owner_process::{is_left_in_fleet, is_owned};
use crate::workspace::{settle_first, unsettled};
use pi_subagents_ground::places::Places;

/// Tends the records of runs and their worktrees. Without news it costs a look at the owners of the
/// open runs and at one directory.
pub fn tend(index: &KnownIndex, places: &Places) {
    tend_records(index, places);
    settle_worktrees(index);
}

/// Tends the records of runs, for commands that only show runs: no git is started.
pub fn tend_records(index: &KnownIndex, places: &Places) {
    // An index that cannot be read is reported to whoever looks at it next.
    let Ok(open) = index.open_runs() else { return };
    tend_open(index, places, &open);
}

/// Tends the records of the runs in progress.
pub fn tend_open<'a>(
    index: &KnownIndex,
    places: &Places,
    open: impl IntoIterator<Item = &'a IndexedRun>,
) {
    let open: Vec<&IndexedRun> = open.into_iter().collect();
    let left = open.iter().filter(|run| is_left_in_fleet(&run.owner));
    let left: Vec<IndexedRun> = left.copied().cloned().collect();
    if !left.is_empty()
        && index.may_ask_fleet()
        && let Some(elsewhere) = elsewhere(places)
    {
        elsewhere.catch_up(index.store(), places, &left);
    }
    close(index.store(), &open);
}

/// Closes the runs whose owner is gone, and ends their leftovers.
pub fn close_abandoned(store: &Store) {
    // An index that cannot be read now is read by the next process that needs it.
    if let Ok(runs) = store.open_runs() {
        close(store, &runs.iter().collect::<Vec<_>>());
    }
}

fn close(store: &Store, open: &[&IndexedRun]) {
    let (owned, abandoned): (Vec<&IndexedRun>, Vec<&IndexedRun>) =
        open.iter().copied().partition(|run| is_owned(run));
    for run in owned {
        // An end that cannot be entered now is found again next time.
        _ = store.enter_end(run);
    }
    let ids: Vec<RunId> = abandoned.iter().map(|run| run.run.clone()).collect();
    end_leftovers(&ids);
    let mut sockets = BTreeSet::new();
    for run in &abandoned {
        // A record that cannot be closed now is found again next time.
        _ = store.close_interrupted(run);
        sockets.extend(run.owner.socket.as_deref().and_then(Path::parent));
    }
    for directory in sockets {
        remove_abandoned_sockets(directory);
    }
}

/// Keeps what runs left in worktrees whose owner was killed before it could. A worktree whose result
/// could not be kept is left to the commands about worktrees.
fn settle_worktrees(index: &KnownIndex) {
    let left = unsettled(index.store().agent_dir());
    if left.is_empty() {
        return;
    }
    let ids: Vec<&str> = left.iter().map(|(run, _)| run.as_str()).collect();
    let Ok(runs) = index.candidates(Finder::GIVEN, &ids) else {
        return;
    };
    for (run, directory) in left {
        let known = runs.iter().find(|known| known.run == run);
        if !known.is_some_and(is_owned) {
            settle_first(&directory, &run);
        }
    }
}
