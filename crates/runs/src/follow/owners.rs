//! Waits for the ends of owners: an owner that is killed writes nothing down.

use std::collections::HashSet;
use std::sync::Arc;

use pi_subagents_os::{ProcessName, Processes as _, System};
use pi_subagents_records::{IndexedRun, OwnerName};
use tokio::task::JoinSet;

use crate::owner_process::{is_owned, this_host};

/// The owners of runs under way, each watched once.
#[derive(Default)]
pub(super) struct Owners {
    known: HashSet<(u32, u64)>,
    /// Each ends when its owner does.
    watched: JoinSet<(u32, u64)>,
}

impl Owners {
    /// Watches the owners of the open runs.
    pub(super) fn watch<'a>(&mut self, runs: impl Iterator<Item = &'a IndexedRun>) {
        for run in runs.filter(|run| run.is_open()) {
            let owner = Arc::clone(&run.owner);
            let name = (owner.pid, owner.start_time);
            if !self.known.contains(&name) && is_owned(run) {
                self.known.insert(name);
                self.watched.spawn(async move {
                    owner_gone(&owner).await;
                    name
                });
            }
        }
    }

    /// Waits until an owner is gone; for ever if there is no owner.
    pub(super) async fn next(&mut self) {
        match self.watched.join_next().await {
            Some(Ok(name)) => _ = self.known.remove(&name),
            Some(Err(_)) => {}
            None => std::future::pending().await,
        }
    }
}

/// Waits until nobody is left who could end a run. The end of an owner on another machine is never
/// known, and a run of a fleet goes on without its follower.
pub(super) async fn owner_gone(owner: &OwnerName) {
    if owner.host != this_host() || owner.fleet.is_some() {
        return std::future::pending().await;
    }
    process_gone(owner).await;
}

/// Waits until the process of an owner on this machine is gone.
pub async fn process_gone(owner: &OwnerName) {
    let name = ProcessName {
        pid: owner.pid,
        start_time: owner.start_time,
    };
    // A living process whose end cannot be waited for is waited for without end.
    if System::exited(name).await.is_err() && name.is_alive() {
        std::future::pending::<()>().await;
    }
}
