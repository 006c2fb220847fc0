//! One writer at a time for a session that several runs continue.
//!
//! The owner takes the lock and holds it together with the keeper of its child, so it is free when
//! nothing of the run is left. See `docs/design/stopping.md`.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use pi_subagents_files::{self as files, PassingLock};
use pi_subagents_vocabulary::RunId;

use crate::sweep::end_leftovers;

/// The reason why a session could not be locked.
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
    held: PassingLock,
    run: RunId,
}

impl SessionLock {
    /// Takes the lock for a run, without waiting for it.
    ///
    /// If a free lock still has a name in it, the keeper of that run was killed. Processes of that
    /// run may live on and write, so they are ended first.
    pub(crate) fn take(lock: &Path, run: &RunId) -> Result<Self, LockError> {
        if let Some(directory) = lock.parent() {
            files::create_directories(directory)?;
        }
        let held = match files::try_lock(lock)? {
            Ok(held) => held,
            Err(file) => {
                let holder = name_in(&file)?;
                return Err(LockError::InUse { holder });
            }
        };
        if let Some(earlier) = name_in(held.file())? {
            end_leftovers(std::slice::from_ref(&earlier));
        }
        let run = run.clone();
        let mut taken = Self { held, run };
        taken.enter_name()?;
        taken.held.share_with_children();
        Ok(taken)
    }

    /// Leaves the run's name in the lock; each keeper takes it out when its tree is gone.
    pub(crate) fn enter_name(&self) -> io::Result<()> {
        let mut file = self.held.file();
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{} {}", self.run, std::process::id())
    }

    /// Frees the session, when nothing of the run is left, and leaves no file behind. Closing it
    /// would free it too, but only when a sibling that is being started at this moment has closed
    /// its copy.
    pub(crate) fn release(self) {
        self.held.remove();
    }
}

impl AsFd for SessionLock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.held.file().as_fd()
    }
}

/// Reads the id of the run in the lock. The process of its owner is named beside it for people.
fn name_in(mut file: &File) -> io::Result<Option<RunId>> {
    let mut text = String::new();
    file.rewind()?;
    // If something else was written there, it is no valid id.
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
        let of_its_keeper = held.held.file().try_clone().unwrap();
        held.release();
        assert!(!lock.exists());
        let held = SessionLock::take(&lock, &run("second")).unwrap();
        assert_eq!(name_in(held.held.file()).unwrap(), Some(run("second")));
        drop(of_its_keeper);
    }

    #[test]
    fn whatever_stands_in_a_lock_it_can_be_taken() {
        let directory = tempfile::tempdir().unwrap();
        let lock = directory.path().join("lock");
        for text in ["", "\n", "../x 1", "\u{1b}[31m"] {
            std::fs::write(&lock, text).unwrap();
            let held = SessionLock::take(&lock, &run("a")).unwrap();
            assert_eq!(
                name_in(held.held.file()).unwrap(),
                Some(run("a")),
                "{text:?}"
            );
        }
    }
}
