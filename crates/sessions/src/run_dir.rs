//! The names of the files of one run directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::private;

/// How much of a foreign id goes into the name of a file.
const LONGEST_ID: usize = 200;

/// The directory of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir(PathBuf);

impl RunDir {
    /// Takes a directory for a run directory.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What was asked, and who owns the run.
    pub fn meta(&self) -> PathBuf {
        self.0.join("meta.json")
    }

    /// The child's records, and ours about its life.
    pub fn events(&self) -> PathBuf {
        self.0.join("events.jsonl")
    }

    /// How the run ended.
    pub fn result(&self) -> PathBuf {
        self.0.join("result.json")
    }

    /// What the child printed that was no record.
    pub fn stdout(&self) -> PathBuf {
        self.0.join("stdout.log")
    }

    /// What the child complained about.
    pub fn stderr(&self) -> PathBuf {
        self.0.join("stderr.log")
    }

    /// The conversation as a person reads it.
    pub fn transcript(&self) -> PathBuf {
        self.0.join("transcript.log")
    }

    /// Made by the one who tells a session of pi that a background run is over.
    fn notified(&self, pi_session: &str) -> PathBuf {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        let letters = pi_session.chars().take(LONGEST_ID);
        let name: String = letters
            .map(|letter| if is_plain(letter) { letter } else { '_' })
            .collect();
        self.0.join(format!("notified-{name}"))
    }

    /// The child's own session file.
    pub fn child_session(&self) -> PathBuf {
        self.0.join("child-session.jsonl")
    }

    /// What the child was told about itself.
    pub fn system_prompt(&self) -> PathBuf {
        self.0.join("system-prompt.md")
    }

    /// Tells whether it falls to us to tell a session of pi that this run is over: true once, for
    /// one of all who ask for that session.
    pub fn claim_notice(&self, pi_session: &str) -> io::Result<bool> {
        match private::create_new(&self.notified(pi_session)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes a claim back: nobody was told.
    pub fn release_notice(&self, pi_session: &str) -> io::Result<()> {
        fs::remove_file(self.notified(pi_session))
    }
}
