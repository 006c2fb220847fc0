//! What a landing was made of, in its folder: enough to finish what follows from it after a crash, and
//! to let its results wait again when it is taken back.

use pi_subagents_git::{Landing, WorkspaceError};
use pi_subagents_vocabulary::{RunId, Timestamp};
use serde::{Deserialize, Serialize};

const FILE: &str = "landing.json";

/// What a landing was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LandingNote {
    pub(super) at: Timestamp,
    pub(super) runs: Vec<LandedRun>,
}

/// A result in a landing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LandedRun {
    pub(super) run: RunId,
    pub(super) name: String,
    /// The result as a commit.
    pub(super) result: String,
}

impl LandingNote {
    pub(super) fn read(landing: &Landing) -> Option<Self> {
        serde_json::from_slice(&landing.read(FILE)?).ok()
    }

    pub(super) fn write(&self, landing: &Landing) -> Result<(), WorkspaceError> {
        // Its values are texts and times, so it can always be written.
        let bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        landing.write(FILE, &bytes)
    }

    /// Names its results.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.runs.iter().map(|run| run.name.as_str()).collect();
        pi_subagents_vocabulary::text::one_line(&names.join(", "))
    }
}
