//! Locks between processes. Nobody waits for a lock without end, because its holder may be stopped,
//! or may have nothing to do with us.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pi_subagents_os::{Disk as _, Processes as _, System};
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;
use tracing::{debug, warn};

/// The pauses between two tries of a waiting process: the first one, and the longest.
const LOOK_AGAIN: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// The reason why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else holds it.
    #[error("{} is locked by {}", path.display(), holder.as_deref().unwrap_or("another process"))]
    Held {
        /// The file.
        path: PathBuf,
        /// The process that holds it, if the system knows.
        holder: Option<String>,
    },
    /// The file could not be used.
    #[error("{} cannot be locked: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// The lock of a file or a directory, held until this is dropped.
///
/// Dropping frees the lock before it closes the file. Closing alone is not enough: a child that
/// another thread is starting has a copy of every open file until it becomes another program, and
/// the lock would live on in that copy.
#[derive(Debug)]
pub struct HeldLock {
    file: File,
    /// True if the copies of the file that children have keep the lock after this one is dropped.
    is_left_to_copies: bool,
}

impl HeldLock {
    /// Locks an open file, and waits at most `patience` for its holder. `path` is its name in errors.
    pub fn alone(file: File, path: &Path, patience: Duration) -> Result<Self, LockError> {
        let alone = FlockOperation::NonBlockingLockExclusive;
        wait_for(&file, path, alone, patience)?;
        Ok(Self::of(file))
    }

    /// Shares the lock of an open file, and waits as `share_open` does.
    pub fn share(file: File, path: &Path, patience: Duration) -> Result<Self, LockError> {
        share_open(&file, path, patience)?;
        Ok(Self::of(file))
    }

    fn of(file: File) -> Self {
        Self {
            file,
            is_left_to_copies: false,
        }
    }

    /// Returns the file that is locked.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        if !self.is_left_to_copies {
            // It fails for no open file.
            _ = flock(&self.file, FlockOperation::Unlock);
        }
    }
}

/// Locks a file, which is made for the user alone if it is not there, and waits at most `patience`
/// for its holder.
pub fn lock_file(path: &Path, patience: Duration) -> Result<HeldLock, LockError> {
    let file = open_lock(path).map_err(|source| io_error(path, source))?;
    HeldLock::alone(file, path, patience)
}

/// Shares the lock of such a file with others who share it.
pub fn share_file(path: &Path, patience: Duration) -> Result<HeldLock, LockError> {
    let file = open_lock(path).map_err(|source| io_error(path, source))?;
    HeldLock::share(file, path, patience)
}

/// Shares the lock of an open file with others who share it, and waits at most `patience` for a
/// process that has it alone.
pub fn share_open(file: &File, path: &Path, patience: Duration) -> Result<(), LockError> {
    let shared = FlockOperation::NonBlockingLockShared;
    wait_for(file, path, shared, patience)
}

/// Returns whether a path leads to this open file, and not to a file that took its place.
pub fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Locks a directory in the same way.
pub fn lock_directory(path: &Path, patience: Duration) -> Result<HeldLock, LockError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat(CWD, path, flags, Mode::empty());
    let directory = opened.map_err(|error| io_error(path, error.into()))?;
    HeldLock::alone(File::from(directory), path, patience)
}

/// A lock whose file is there only while somebody holds it: dropping this removes the file and then
/// frees the lock. A process that opened the file before, and locks it afterwards, sees that the file
/// is gone.
#[derive(Debug)]
pub struct PassingLock {
    path: PathBuf,
    held: HeldLock,
}

impl PassingLock {
    /// Returns the file that is locked.
    pub fn file(&self) -> &File {
        self.held.file()
    }

    /// Shares the lock with children that get a copy of the file. From now on dropping this only
    /// closes the file, and the lock lives on until the last copy is closed or it is removed.
    pub fn share_with_children(&mut self) {
        self.held.is_left_to_copies = true;
    }

    /// Removes the file and frees the lock, whoever has a copy.
    pub fn remove(mut self) {
        self.held.is_left_to_copies = false;
    }
}

impl Drop for PassingLock {
    fn drop(&mut self) {
        if !self.held.is_left_to_copies {
            // A file that could not be removed can still be locked by the next process.
            _ = fs::remove_file(&self.path);
        }
    }
}

/// Locks a file without waiting. If somebody holds the lock, the open file comes back as the inner
/// error, so that its content can be read.
pub fn try_lock(path: &Path) -> io::Result<Result<PassingLock, File>> {
    loop {
        let file = open_lock(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(Err(file)),
            Err(error) => return Err(error.into()),
        }
        let held = HeldLock::of(file);
        // The last holder may have removed it between the two steps: then it locks nothing.
        let ours = held.file.metadata()?;
        let there = fs::symlink_metadata(path).map(|there| (there.dev(), there.ino()));
        if there.is_ok_and(|there| there == (ours.dev(), ours.ino())) {
            let path = path.to_owned();
            return Ok(Ok(PassingLock { path, held }));
        }
    }
}

/// Removes a lock that somebody left behind, unless it is held or has content.
pub fn remove_free_lock(path: &Path) {
    if !fs::symlink_metadata(path).is_ok_and(|lock| lock.is_file() && lock.len() == 0) {
        return;
    }
    if let Ok(Ok(held)) = try_lock(path) {
        held.remove();
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR
        | OFlags::CREATE
        | OFlags::CLOEXEC
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::NOCTTY;
    let opened = openat(CWD, path, flags, Mode::RUSR | Mode::WUSR)?;
    crate::regular_files::regular(opened)
}

fn wait_for(
    file: &File,
    path: &Path,
    operation: FlockOperation,
    patience: Duration,
) -> Result<(), LockError> {
    let begun = Instant::now();
    let end = begun + patience;
    let (mut pause, longest) = LOOK_AGAIN;
    loop {
        match flock(file, operation) {
            Ok(()) => {
                let waited_s = begun.elapsed().as_secs_f64();
                debug!(path = %path.display(), waited_s, "locked");
                return Ok(());
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => sleep(pause),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                let holder = holder_of(file);
                // For somebody who only looks, a lock that is held is an answer like another.
                if patience.is_zero() {
                    debug!(path = %path.display(), holder, "lock is held by another");
                } else {
                    warn!(path = %path.display(), holder, "lock is held by another");
                }
                return Err(LockError::Held {
                    path: path.to_owned(),
                    holder,
                });
            }
            Err(error) => return Err(io_error(path, error.into())),
        }
        pause = (pause * 2).min(longest);
    }
}

fn io_error(path: &Path, source: io::Error) -> LockError {
    LockError::Io {
        path: path.to_owned(),
        source,
    }
}

/// Names the process that holds the lock of a file, as far as the system knows.
fn holder_of(file: &File) -> Option<String> {
    let pid = System::lock_holder(file)?;
    Some(match System::shown_name(pid) {
        Some(name) => format!("process {pid} ({name})"),
        None => format!("process {pid}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_held_is_not_waited_for_without_end() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        let held = lock_file(&path, Duration::ZERO).unwrap();
        let error = lock_file(&path, Duration::from_millis(30)).unwrap_err();
        let LockError::Held { holder, .. } = &error else {
            panic!("{error}");
        };
        // Some containers hide who holds what.
        if let Some(holder) = holder {
            let us = format!("process {} (", std::process::id());
            assert!(holder.starts_with(&us), "{holder}");
        }
        let beginning = format!("{} is locked by ", path.display());
        assert!(error.to_string().starts_with(&beginning), "{error}");
        drop(held);
        lock_file(&path, Duration::ZERO).unwrap();
        let directory = lock_directory(home.path(), Duration::ZERO).unwrap();
        lock_directory(home.path(), Duration::ZERO).unwrap_err();
        drop(directory);
    }

    #[test]
    fn a_copy_of_the_open_file_does_not_keep_a_lock_that_was_dropped() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        let held = lock_file(&path, Duration::ZERO).unwrap();
        let copy = held.file().try_clone().unwrap();
        drop(held);
        let again = lock_file(&path, Duration::ZERO).unwrap();
        drop((again, copy));
    }

    #[test]
    fn a_lock_that_was_removed_is_nobodys() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        let held = try_lock(&path).unwrap().unwrap();
        // Somebody opens it while it is held, and tries it when it is gone.
        let opened = File::open(&path).unwrap();
        assert!(try_lock(&path).unwrap().is_err());
        remove_free_lock(&path);
        assert!(path.exists(), "it is held");
        drop(held);
        assert!(!path.exists());
        flock(&opened, FlockOperation::NonBlockingLockExclusive).unwrap();
        // Two files are locked now, and only one of them has the name.
        let second = try_lock(&path).unwrap().unwrap();
        assert!(try_lock(&path).unwrap().is_err());
        drop(second);
        assert!(!path.exists());
        File::create(&path).unwrap();
        remove_free_lock(&path);
        assert!(!path.exists());
    }

    #[test]
    fn a_copy_in_a_child_keeps_a_lock_only_if_it_was_shared_with_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        let held = try_lock(&path).unwrap().unwrap();
        let copy = held.file().try_clone().unwrap();
        drop(held);
        let mut shared = try_lock(&path).unwrap().unwrap();
        shared.share_with_children();
        let of_a_child = shared.file().try_clone().unwrap();
        drop(shared);
        assert!(try_lock(&path).unwrap().is_err(), "the child has it");
        drop((copy, of_a_child));
        let mut again = try_lock(&path).unwrap().unwrap();
        again.share_with_children();
        let copy = again.file().try_clone().unwrap();
        again.remove();
        assert!(!path.exists());
        drop((try_lock(&path).unwrap().unwrap(), copy));
    }

    #[test]
    fn many_who_take_and_remove_a_lock_are_never_two_at_once() {
        let home = tempfile::tempdir().unwrap();
        let (path, inside) = (home.path().join("lock"), home.path().join("inside"));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Ok(held) = try_lock(&path).unwrap() else {
                            continue;
                        };
                        // Only one may be here, so the file is always new.
                        File::create_new(&inside).unwrap();
                        fs::remove_file(&inside).unwrap();
                        drop(held);
                    }
                });
            }
        });
    }
}
