//! The file with the models that rest, which all runs of a user share.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_files::{LockError, is_absent, lock_file, read_own_text, write_whole};
use pi_subagents_vocabulary::{Cooldowns, ModelFailure, Timestamp};
use tracing::warn;

/// A larger file is not ours.
const LARGEST: u64 = 256 << 10;

/// How long a run waits for another one that writes the file.
const PATIENCE: Duration = Duration::from_secs(2);

/// The file with the models that rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CooldownFile {
    path: PathBuf,
}

/// The reason why the file could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum CooldownFileError {
    /// Another process changes it and does not finish.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// It could not be written.
    #[error("{} cannot be written", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl CooldownFile {
    /// Names the file of a user by the path of the agent directory.
    pub fn of_user(agent_dir: &Path) -> Self {
        Self::at(agent_dir.join("subagents-cooldowns.json"))
    }

    /// Names the file itself.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads which models rest now. A file that cannot be read has none: a rest that is forgotten
    /// costs one request.
    pub fn read(&self, now: Timestamp) -> Cooldowns {
        match read_own_text(&self.path, LARGEST) {
            Ok(text) => Cooldowns::read(&text, now),
            Err(error) => {
                if !is_absent(&error) {
                    warn!(file = %self.path.display(), %error, "cooldowns cannot be read");
                }
                Cooldowns::default()
            }
        }
    }

    /// Lets a model rest after a failure, if that heals with time. Returns until when, also if it
    /// could not be written down: then only this run knows.
    pub fn note(&self, model: &str, failure: &ModelFailure, now: Timestamp) -> Option<Timestamp> {
        let until = Cooldowns::default().note(model, failure, now)?;
        let noted = self.change(|cooldowns| {
            cooldowns.note(model, failure, now);
        });
        if let Err(error) = noted {
            warn!(%model, %error, "cooldown was not noted");
        }
        Some(until)
    }

    /// Forgets all rests. Returns how many models rested.
    pub fn forget(&self) -> Result<usize, CooldownFileError> {
        let mut forgotten = 0;
        self.change(|cooldowns| {
            forgotten = cooldowns.iter().count();
            *cooldowns = Cooldowns::default();
        })?;
        Ok(forgotten)
    }

    fn change(&self, change: impl FnOnce(&mut Cooldowns)) -> Result<(), CooldownFileError> {
        let lock = lock_file(&self.path.with_extension("lock"), PATIENCE)?;
        let mut cooldowns = self.read(Timestamp::now());
        change(&mut cooldowns);
        let text = cooldowns.to_text();
        let written = write_whole(&self.path, text.as_bytes());
        drop(lock);
        written.map_err(|source| CooldownFileError::Write {
            path: self.path.clone(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn failure(message: &str) -> ModelFailure {
        ModelFailure::read(message)
    }

    #[test]
    fn writers_at_once_lose_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = CooldownFile::of_user(directory.path());
        std::thread::scope(|scope| {
            for number in 0..16 {
                let file = &file;
                scope.spawn(move || {
                    file.note(
                        &format!("a/{number}"),
                        &failure("503: busy"),
                        Timestamp::now(),
                    )
                });
            }
        });
        assert_eq!(file.read(Timestamp::now()).iter().count(), 16);
        assert_eq!(file.forget().unwrap(), 16);
        assert_eq!(file.read(Timestamp::now()), Cooldowns::default());
    }

    #[test]
    fn a_torn_file_has_no_rests_and_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let file = CooldownFile::of_user(directory.path());
        std::fs::write(file.path(), r#"{"a/x": {"until": "20"#).unwrap();
        assert!(file.read(Timestamp::now()).is_empty());
        let until = file.note("b/y", &failure("429: usage limit"), Timestamp::now());
        assert!(until.is_some());
        assert!(
            file.read(Timestamp::now())
                .of("b/y", Timestamp::now())
                .is_some()
        );
    }
}
