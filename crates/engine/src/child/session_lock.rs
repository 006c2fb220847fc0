//! One writer at a time for a session that several runs continue.
//!
//! The owner takes the lock and holds it together with the keeper of its child, so it is free when
//! nothing of the run is left. See `docs/design/stopping.md`.

use std::fs::{DirBuilder, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use pi_subagents_delegation::RunId;
use rustix::fs::{FlockOperation, flock};

use crate::leftovers::end_leftovers;

/// Why a session could not be locked.
#[derive(Debug)]
pub(crate) enum LockError {
    /// Another run holds it.
    InUse { holder: Option<RunId> },
    /// The file could not be used.
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The lock of a session, as the owner of a run holds it.
///
/// Keepers share it (an `flock` belongs to the open file, not to a descriptor), so a child can be
/// started after another without anybody in between.
#[derive(Debug)]
pub(crate) struct SessionLock {
    file: File,
    run: RunId,
}

impl SessionLock {
    /// Takes the lock for a run, without waiting for it.
    ///
    /// A name that still stands in a free lock is that of a run whose keeper was killed. Something
    /// of it may live on and write, so that is ended first.
    pub(crate) fn take(lock: &Path, run: &RunId) -> Result<Self, LockError> {
        let mut file = open(lock)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let holder = name_in(&mut file)?;
                return Err(LockError::InUse { holder });
            }
            Err(error) => return Err(LockError::Io(error.into())),
        }
        if let Some(earlier) = name_in(&mut file)? {
            end_leftovers(&earlier);
        }
        let run = run.clone();
        let taken = Self { file, run };
        taken.enter_name()?;
        Ok(taken)
    }

    /// Leaves the run's name in the lock; each keeper takes it out when its tree is gone.
    pub(crate) fn enter_name(&self) -> io::Result<()> {
        let mut file = &self.file;
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{} {}", self.run, std::process::id())
    }

    /// Frees the session, when nothing of the run is left. Closing it would do so too, but only
    /// when a sibling that is being started at this moment has closed its copy.
    pub(crate) fn release(self) {
        // It fails for no open file.
        _ = flock(&self.file, FlockOperation::Unlock);
    }
}

impl AsFd for SessionLock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn open(lock: &Path) -> io::Result<File> {
    if let Some(directory) = lock.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
    }
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(lock)
}

/// The run whose name stands in the lock: its id, and its owner's process for whoever looks.
fn name_in(file: &mut File) -> io::Result<Option<RunId>> {
    let mut text = String::new();
    file.rewind()?;
    // Whatever else somebody wrote there is no name.
    _ = file.take(256).read_to_string(&mut text);
    let id = text.split_whitespace().next();
    Ok(id.and_then(|id| RunId::parse(id).ok()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn run(id: &str) -> RunId {
        RunId::parse(id).unwrap()
    }

    #[test]
    fn a_lock_is_held_by_one_run_and_names_it() {
        let directory = tempfile::tempdir().unwrap();
        let lock = directory.path().join("of-a-cwd/scout_s.jsonl.lock");
        let held = SessionLock::take(&lock, &run("first")).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&lock), mode(lock.parent().unwrap())), (0o600, 0o700));
        match SessionLock::take(&lock, &run("second")).unwrap_err() {
            LockError::InUse { holder } => assert_eq!(holder, Some(run("first"))),
            LockError::Io(error) => panic!("{error}"),
        }
        let of_its_keeper = held.file.try_clone().unwrap();
        held.release();
        let mut held = SessionLock::take(&lock, &run("second")).unwrap();
        assert_eq!(name_in(&mut held.file).unwrap(), Some(run("second")));
        drop(of_its_keeper);
    }

    #[test]
    fn whatever_stands_in_a_lock_it_can_be_taken() {
        let directory = tempfile::tempdir().unwrap();
        let lock = directory.path().join("lock");
        for text in ["", "\n", "../x 1", "\u{1b}[31m"] {
            std::fs::write(&lock, text).unwrap();
            let mut held = SessionLock::take(&lock, &run("a")).unwrap();
            assert_eq!(name_in(&mut held.file).unwrap(), Some(run("a")), "{text:?}");
        }
    }
}
