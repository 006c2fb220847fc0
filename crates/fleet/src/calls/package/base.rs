//! The history of a repository that a fleet has: sent once, and named in the repository's own
//! directory from then on.

use std::path::PathBuf;

use pi_subagents_files::{read_own_text, write_whole};
use pi_subagents_git::{ObjectId, Repository};
use serde::{Deserialize, Serialize};

/// A base that is further behind is replaced by a new one.
const FURTHEST: u64 = 200;

/// The file in the repository's own directory that names the last base that was sent.
const NOTE: &str = "pi-subagents-base.json";

/// More is not read of that file.
const LONGEST_NOTE: u64 = 1 << 20;

/// The base that was sent last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    pub(super) object: String,
    pub(super) commit: String,
    pub(super) shallow: Vec<String>,
}

impl Base {
    /// Returns the base that was sent last, if it is near enough.
    pub(super) fn read(repository: &Repository, head: &ObjectId) -> Option<Self> {
        let text = read_own_text(&note_of(repository), LONGEST_NOTE).ok()?;
        let base: Self = serde_json::from_str(&text).ok()?;
        let commit = ObjectId::parse(&base.commit)?;
        let distance = repository.distance(&commit, head).ok()??;
        (distance <= FURTHEST).then_some(base)
    }

    /// Notes that the fleet has this base. Without the note it is sent again next time.
    pub(super) fn remember(&self, repository: &Repository) {
        if let Ok(text) = serde_json::to_vec(self) {
            _ = write_whole(&note_of(repository), &text);
        }
    }
}

fn note_of(repository: &Repository) -> PathBuf {
    repository.common_dir().join(NOTE)
}
