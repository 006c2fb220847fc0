//! Finds out whether the owner of a run is alive, and closes the runs whose owner is gone.

use std::collections::BTreeSet;
use std::path::Path;

use pi_subagents_engine::{ProcessName, end_leftovers, remove_abandoned_sockets};
use pi_subagents_records::{FindError, IndexedRun, OwnerName, Store};
use pi_subagents_vocabulary::{RunId, Timestamp};

use crate::elsewhere::elsewhere;
use crate::workspace::{settle, unsettled};
use pi_subagents_ground::places::Places;

/// A type that names the owner of a run.
pub trait OwnerProcess {
    /// Returns the process of the owner, if it is on this machine.
    fn owner_process(&self) -> Option<ProcessName>;

    /// Returns whether somebody has stopped the owner (SIGSTOP), so that it answers nobody.
    fn is_owner_stopped(&self) -> bool {
        self.owner_process().is_some_and(ProcessName::is_stopped)
    }
}

impl OwnerProcess for OwnerName {
    fn owner_process(&self) -> Option<ProcessName> {
        (self.host == this_host()).then_some(ProcessName {
            pid: self.pid,
            start_time: self.start_time,
        })
    }
}

impl OwnerProcess for IndexedRun {
    fn owner_process(&self) -> Option<ProcessName> {
        self.owner.owner_process()
    }
}

/// Returns all runs of the index, after closing those whose owner is gone. The index is read once,
/// because it is long after some years.
pub fn current_runs(store: &Store, places: &Places) -> Result<Vec<IndexedRun>, FindError> {
    let runs = store.runs()?;
    let is_copied = elsewhere().is_some_and(|elsewhere| elsewhere.catch_up(store, places, &runs));
    let is_closed = close(store, &runs);
    look_after_worktrees(store, &runs);
    if is_closed || is_copied {
        return store.runs();
    }
    Ok(runs)
}

/// Closes the runs whose owner is gone, and ends their leftovers.
pub fn close_abandoned(store: &Store) {
    // An index that cannot be read now is read by the next process that needs it.
    if let Ok(runs) = store.open_runs() {
        close(store, &runs);
    }
}

/// Keeps what runs left in worktrees whose owner was killed after the run had ended.
fn look_after_worktrees(store: &Store, runs: &[IndexedRun]) {
    for (run, directory) in unsettled(store.agent_dir()) {
        let known = runs.iter().find(|known| known.run == run);
        if !known.is_some_and(is_owned) {
            settle(&directory, &run);
        }
    }
}

/// Closes the runs whose owner is gone. Returns whether there were any.
fn close(store: &Store, runs: &[IndexedRun]) -> bool {
    let abandoned: Vec<&IndexedRun> = runs
        .iter()
        .filter(|run| run.is_open() && !is_owned(run))
        .collect();
    let ids: Vec<RunId> = abandoned.iter().map(|run| run.run.clone()).collect();
    end_leftovers(&ids);
    let mut sockets = BTreeSet::new();
    for run in &abandoned {
        // A record that cannot be closed now is found again next time.
        _ = store.close_interrupted(run);
        settle(run.directory.path(), &run.run);
        sockets.extend(run.owner.socket.as_deref().and_then(Path::parent));
    }
    for directory in sockets {
        remove_abandoned_sockets(directory);
    }
    !abandoned.is_empty()
}

/// Returns whether the owner of an open run still lives. An owner on another machine counts as
/// alive for a day, because this machine cannot know; a container that comes back under a new name
/// is another machine too.
pub fn is_owned(run: &IndexedRun) -> bool {
    is_alive(&run.owner, run.accepted_at)
}

/// Returns whether the owner of a run that was accepted at this time is still there. The end of a
/// run of a fleet is written by the process that catches up with it.
pub fn is_alive(owner: &OwnerName, accepted_at: Timestamp) -> bool {
    if owner.fleet.is_some() {
        // The fleet has it, and reports its end.
        return true;
    }
    if owner.host != this_host() {
        let age = Timestamp::now().duration_since(accepted_at);
        return age.as_hours() < 24;
    }
    ProcessName {
        pid: owner.pid,
        start_time: owner.start_time,
    }
    .is_alive()
}

pub fn this_host() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}
