//! Waits until something happens to files. Files that the system cannot watch are looked at once a
//! second.

use std::path::Path;
use std::time::Duration;

use pi_subagents_files::create_directories;
use pi_subagents_os::{DirectoryWatch as _, FileEvents, Watched};
use pi_subagents_records::{IndexedRun, OwnerName};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::owner_process::this_host;

/// The pause between two looks at files that cannot be watched.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Changes of the files in some directories. A waiter never misses a change, whether the system
/// reports it or not.
pub struct FileChanges {
    /// `None` if the system has no file events, or this user has used up theirs.
    events: Option<FileEvents>,
    /// True if some of the changes are not reported.
    is_blind: watch::Sender<bool>,
}

impl FileChanges {
    pub fn new() -> Self {
        let events = FileEvents::new().ok();
        Self {
            is_blind: watch::Sender::new(events.is_none()),
            events,
        }
    }

    /// Watches a directory that may not exist yet.
    pub fn of_directory(directory: &Path) -> Self {
        let changes = Self::new();
        // If it cannot be made now, somebody may make it later.
        _ = create_directories(directory);
        if !directory.exists() {
            changes.look_again();
        }
        changes.watch(directory);
        changes
    }

    /// Watches one more directory: for new files, for files that grow, and for files that go.
    pub(crate) fn watch(&self, directory: &Path) {
        self.add(directory, Watched::Everything);
    }

    /// Watches one more directory for new files only.
    pub(crate) fn watch_for_new(&self, directory: &Path) {
        self.add(directory, Watched::NewFiles);
    }

    /// Watches everything that is written down about a run.
    pub fn watch_record(&self, run: &IndexedRun) {
        self.watch(run.directory.path());
        self.expect_from(&run.owner);
    }

    /// Notes the owner whose changes are waited for: a machine that shares the disk causes no file
    /// events on this one.
    pub(super) fn expect_from(&self, owner: &OwnerName) {
        if owner.host != this_host() {
            self.look_again();
        }
    }

    /// Makes [`FileChanges::next`] return once a second at the latest, because the system does not
    /// report all changes.
    fn look_again(&self) {
        self.is_blind.send_replace(true);
    }

    fn add(&self, directory: &Path, watched: Watched) {
        let Some(events) = &self.events else { return };
        if events.add(directory, watched).is_err() {
            self.look_again();
        }
    }

    /// Waits until something may have happened; changes that come together count once.
    pub async fn next(&self) {
        let mut is_blind = self.is_blind.subscribe();
        loop {
            let looks_again = *is_blind.borrow_and_update();
            tokio::select! {
                () = reported(self.events.as_ref()) => return,
                () = sleep(LOOK_AGAIN), if looks_again => return,
                Ok(()) = is_blind.changed() => {}
            }
        }
    }
}

async fn reported(events: Option<&FileEvents>) {
    match events {
        Some(events) => events.changed().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tokio::time::Instant;

    use super::*;

    fn without_events() -> FileChanges {
        FileChanges {
            events: None,
            is_blind: watch::Sender::new(true),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn without_file_events_everything_is_looked_at_once_a_second() {
        let changes = without_events();
        changes.watch(Path::new("/nowhere"));
        let begin = Instant::now();
        changes.next().await;
        changes.next().await;
        assert_eq!(begin.elapsed().as_secs(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_already_looks_again_too() {
        let changes = FileChanges {
            events: None,
            is_blind: watch::Sender::new(false),
        };
        let waits = async {
            changes.next().await;
        };
        let learns = async {
            sleep(Duration::from_mins(5)).await;
            changes.look_again();
        };
        let begin = Instant::now();
        tokio::join!(waits, learns);
        assert_eq!(begin.elapsed().as_secs(), 301);
    }

    #[tokio::test]
    async fn a_change_is_reported_and_changes_that_come_together_are_one() {
        let directory = tempfile::tempdir().expect("a directory");
        let changes = FileChanges::of_directory(&directory.path().join("new"));
        for name in ["a", "b"] {
            fs::write(directory.path().join("new").join(name), "x").expect("a file");
        }
        changes.next().await;
        let next = tokio::time::timeout(Duration::ZERO, changes.next()).await;
        assert!(next.is_err(), "there was a second change");
    }
}
