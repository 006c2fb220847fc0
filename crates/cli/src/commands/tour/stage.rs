//! The directory of a tour among the temporary files: the project, and a home of its own with the
//! records and the worktrees. The user's own list of runs never knows of them.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_files::{Directory, HeldLock, lock_file};
use tracing::debug;

use super::{Afterwards, project};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::random::new_session_id;

/// The beginning of the directory's name.
const PREFIX: &str = "pi-subagents-tour-";

/// The names of the project and of the home in it.
pub(super) const PROJECT: &str = "lighthouse";
pub(super) const HOME: &str = "home";

/// A file that is locked for as long as the tour lives. A directory whose lock is free belongs to a
/// tour that was killed.
const LOCK: &str = "lock";

/// The directory of one tour. Dropping it removes the directory.
pub(super) struct Stage {
    directory: PathBuf,
    /// Free once the directory is removed.
    _lock: HeldLock,
}

impl Stage {
    /// Makes the directory with the project in it. Directories of tours that were killed go first.
    pub(super) fn set_up(own: &Places) -> Result<Self, CommandError> {
        let failed = |error: &dyn std::error::Error| {
            let words = "the directory of the tour could not be made";
            CommandError::failed(words)
                .because(error)
                .hint("TMPDIR names the place for it. pi-subagents tour --here needs none.")
        };
        let above = temporary(own).canonicalize();
        let above = above.map_err(|error| failed(&error))?;
        remove_abandoned(&above);
        let directory = above.join(format!("{PREFIX}{}", new_session_id()?));
        let made = DirBuilder::new().mode(0o700).create(&directory);
        made.map_err(|error| failed(&error))?;
        let stage = Self {
            _lock: lock(&directory).map_err(|error| failed(&*error))?,
            directory,
        };
        project::make(&stage.project())?;
        Ok(stage)
    }

    fn project(&self) -> PathBuf {
        self.directory.join(PROJECT)
    }

    /// Removes the directory, or leaves it to the user. Returns the directory if it stays.
    pub(super) fn leave(self, afterwards: Afterwards) -> io::Result<Option<PathBuf>> {
        match afterwards {
            Afterwards::Remove => remove(&self.directory).map(|()| None),
            Afterwards::Keep => {
                fs::remove_file(self.directory.join(LOCK))?;
                Ok(Some(self.directory.clone()))
            }
        }
    }

    /// Returns the places of somebody who is in the project and has nothing else.
    pub(super) fn places(&self, own: &Places) -> Result<Places, CommandError> {
        own.in_home(&self.directory.join(HOME), self.project())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A directory that was kept or removed before has no lock any more.
        if self.directory.join(LOCK).exists()
            && let Err(error) = remove(&self.directory)
        {
            debug!(%error, "the directory of the tour stays; the next tour removes it");
        }
    }
}

fn temporary(own: &Places) -> PathBuf {
    let named = own.variable("TMPDIR").map(Path::new);
    let named = named.filter(|path| path.is_absolute());
    named.unwrap_or(Path::new("/tmp")).to_owned()
}

/// Locks a new directory. The lock gets its name when it is held, so that nobody finds it free.
fn lock(directory: &Path) -> Result<HeldLock, Box<dyn std::error::Error>> {
    let unnamed = directory.join("lock.new");
    let lock = lock_file(&unnamed, Duration::ZERO)?;
    fs::rename(unnamed, directory.join(LOCK))?;
    Ok(lock)
}

fn remove(directory: &Path) -> io::Result<()> {
    let (Some(above), Some(name)) = (directory.parent(), directory.file_name()) else {
        return Ok(());
    };
    Directory::open(above)?.remove_anything(Path::new(name))
}

/// Removes the directories of tours that were killed. A directory that cannot be removed stays.
fn remove_abandoned(above: &Path) {
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    let named = entries.filter(|entry| is_ours(&entry.file_name()));
    for directory in named.map(|entry| entry.path()) {
        let lock = directory.join(LOCK);
        let is_real = fs::symlink_metadata(&lock).is_ok_and(|file| file.is_file());
        if is_real && let Ok(_held) = lock_file(&lock, Duration::ZERO) {
            _ = remove(&directory);
        }
    }
}

fn is_ours(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(PREFIX))
}
