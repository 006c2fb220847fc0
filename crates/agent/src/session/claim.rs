//! The one writer of a session file, by a lock on the file itself.
//!
//! The lock is held from the start, so that a second writer is refused before it has done any work.
//! A new file stays empty until the first answer; both pi and we take an empty file for a new
//! session.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files::{append_own, is_named};

/// The file cannot be written by us.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClaimError {
    #[error("Session file {} is in use by another process", path.display())]
    InUse { path: PathBuf },
    #[error("Could not open session file {}: {source}", path.display())]
    Failed { path: PathBuf, source: io::Error },
}

/// A session file that no other process writes.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(super) path: PathBuf,
    pub(super) file: File,
}

impl Claim {
    /// Opens and locks a file, and creates it if it is not there.
    pub(crate) fn take(path: &Path) -> Result<Self, ClaimError> {
        let failed = |source| ClaimError::Failed {
            path: path.to_owned(),
            source,
        };
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(failed)?;
        }
        loop {
            let file = append_own(path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let path = path.to_owned();
                    return Err(ClaimError::InUse { path });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            // The holder may have taken it away between the two steps.
            if is_named(&file, path).map_err(failed)? {
                let path = path.to_owned();
                return Ok(Self { path, file });
            }
        }
    }
}

impl Drop for Claim {
    /// Removes the file of a session in which nothing was answered, as pi does, and frees the lock.
    /// Closing the file would free it too, but only when a command that is being started at this
    /// moment has closed its copy.
    fn drop(&mut self) {
        let is_empty = self.file.metadata().is_ok_and(|file| file.len() == 0);
        if let Some(real) = is_empty.then(|| self.path.canonicalize().ok()).flatten() {
            // An empty file that stays is taken for a new session.
            _ = fs::remove_file(real);
        }
        // It fails for no open file.
        _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_writer_is_refused_until_the_first_is_gone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/s.jsonl");
        let first = Claim::take(&path).unwrap();
        let refusal = Claim::take(&path).unwrap_err().to_string();
        assert!(
            refusal.ends_with("s.jsonl is in use by another process"),
            "{refusal}"
        );
        drop(first);
        assert!(!path.exists(), "nothing was written");
        fs::write(&path, "kept\n").unwrap();
        let held = Claim::take(&path).unwrap();
        let of_a_command = held.file.try_clone().unwrap();
        drop(held);
        drop(Claim::take(&path).unwrap());
        drop(of_a_command);
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept\n");
    }
}
