//! What a person has decided about a result or a run in the queue without taking it, in a file of its
//! run directory.

use std::io;
use std::path::Path;

use pi_subagents_files::{Directory, write_whole};
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::review::FailedGate;
use serde::{Deserialize, Serialize};

const FILE: &str = "review.json";

/// A longer file is not ours.
const LARGEST: u64 = 64 * 1024;

/// The decisions about one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReviewNote {
    /// True if somebody wants to look at it later.
    pub is_later: bool,
    /// True if nobody needs to look at it again.
    pub is_dismissed: bool,
    /// The number of times that its work was sent back.
    pub sent_back: usize,
    /// The runs on whose results its work stands.
    pub on: Vec<String>,
    /// The run of the attempt that was picked before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picked: Option<String>,
    /// The gate that failed when somebody wanted to accept it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_gate: Option<FailedGate>,
}

impl ReviewNote {
    /// Reads the decisions about a run; none if there is no file.
    pub fn read(directory: &RunDir) -> Self {
        let read = || {
            let bytes = Directory::open(directory.path())?.read(Path::new(FILE), LARGEST)?;
            Ok::<Self, io::Error>(serde_json::from_slice(&bytes)?)
        };
        read().unwrap_or_default()
    }

    /// Writes them.
    pub fn write(&self, directory: &RunDir) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(self)?;
        write_whole(&directory.path().join(FILE), &bytes)
    }
}

/// Notes that somebody wants to look at a run later, or has come back to it.
pub fn note_later(directory: &RunDir) -> io::Result<bool> {
    let mut note = ReviewNote::read(directory);
    note.is_later = !note.is_later;
    note.write(directory)?;
    Ok(note.is_later)
}
