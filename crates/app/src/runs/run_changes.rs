//! What happens to a run that belongs to another process: its files grow, it gets a result, its
//! owner ends.

use std::time::Duration;

use pi_subagents_sessions::IndexedRun;
use tokio::time::sleep;

use crate::runs::changes::{Changes, owner_gone};
use crate::runs::owned::{is_owned, this_host};

/// How often a run is looked at that cannot be watched.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A run under watch.
pub(crate) struct RunChanges<'a> {
    run: &'a IndexedRun,
    /// None where the system gives no more of them.
    files: Option<Changes>,
}

impl<'a> RunChanges<'a> {
    /// Watches for the end of a run; what happens from now on is not missed.
    pub(crate) fn of_end(run: &'a IndexedRun) -> Self {
        Self {
            run,
            files: watched(|files| files.watch_for_new(run.directory.path())),
        }
    }

    /// Watches for everything that is written down about a run.
    pub(crate) fn of_record(run: &'a IndexedRun) -> Self {
        Self {
            run,
            files: watched(|files| files.watch(run.directory.path())),
        }
    }

    /// Tells whether anything more can happen: the run is not known to be over, and there is
    /// somebody who could end it.
    pub(crate) fn is_going(&self) -> bool {
        let is_over = !self.run.is_open() || self.run.directory.result().exists();
        !is_over && is_owned(self.run)
    }

    /// Waits until something may have happened.
    pub(crate) async fn next(&self) {
        tokio::select! {
            () = happened(self.files.as_ref()) => {}
            () = owner_gone(&self.run.owner) => {}
            () = sleep(LOOK_AGAIN), if self.is_out_of_sight() => {}
        }
    }

    /// Another machine that shares the disk causes no file events on this one.
    fn is_out_of_sight(&self) -> bool {
        self.files.is_none() || self.run.owner.host != this_host()
    }
}

fn watched(watch: impl FnOnce(&Changes) -> std::io::Result<()>) -> Option<Changes> {
    let files = Changes::new().ok()?;
    watch(&files).ok()?;
    Some(files)
}

async fn happened(files: Option<&Changes>) {
    match files {
        Some(files) => files.next().await,
        None => std::future::pending().await,
    }
}
