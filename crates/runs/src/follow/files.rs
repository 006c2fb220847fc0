//! Waits until something happens to files. Files that the system cannot watch are looked at once a
//! second.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use pi_subagents_files::create_directories;
use pi_subagents_records::{IndexedRun, OwnerName};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::owned::this_host;

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

struct FileEvents {
    descriptor: OwnedFd,
    ready: Receiver,
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

    /// Returns whether the system has file events at the moment.
    pub fn are_reported() -> bool {
        inotify::init(CreateFlags::CLOEXEC).is_ok()
    }

    /// Watches one more directory: for new files, for files that grow, and for files that go.
    pub(crate) fn watch(&self, directory: &Path) {
        let what =
            WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::MODIFY | WatchFlags::DELETE;
        self.add(directory, what);
    }

    /// Watches one more directory for new files only.
    pub(crate) fn watch_for_new(&self, directory: &Path) {
        self.add(directory, WatchFlags::CREATE | WatchFlags::MOVED_TO);
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

    fn add(&self, directory: &Path, what: WatchFlags) {
        let Some(events) = &self.events else { return };
        match inotify::add_watch(&events.descriptor, directory, what) {
            // Nothing happens in a directory that is gone.
            Ok(_) | Err(Errno::NOENT) => {}
            Err(_) => self.look_again(),
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
        Some(events) => events.next().await,
        None => std::future::pending().await,
    }
}

impl FileEvents {
    fn new() -> io::Result<Self> {
        let descriptor = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Self {
            ready: waitable(descriptor.try_clone()?)?,
            descriptor,
        })
    }

    async fn next(&self) {
        let mut buffer = [0; 4096];
        loop {
            if self.ready.readable().await.is_err() {
                // Without an async runtime nobody waits any more.
                return std::future::pending().await;
            }
            let mut has_changed = false;
            // The files themselves show the change.
            while self.ready.try_read(&mut buffer).is_ok_and(|read| read > 0) {
                has_changed = true;
            }
            if has_changed {
                return;
            }
        }
    }
}

/// Makes a descriptor that is no pipe wait like one.
pub(super) fn waitable(descriptor: OwnedFd) -> io::Result<Receiver> {
    Receiver::from_owned_fd_unchecked(descriptor)
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
