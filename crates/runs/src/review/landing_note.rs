//! What a landing was made of, in its folder: enough to finish what follows from it after a crash, and
//! to let its results wait again when it is taken back.

use pi_subagents_git::{Change, Landing, ObjectId, WorkspaceError};
use pi_subagents_vocabulary::{RunId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::workspace::PartsLeft;

const FILE: &str = "landing.json";

/// The file with what is left of it.
const HALF: &str = "half.json";

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
    /// The state that it began from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) base: Option<String>,
    /// The part of it that was landed, unless it was the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<LandedPart>,
}

/// A part of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LandedPart {
    /// The state that the result began from.
    pub(super) base: String,
    /// That state with the part. The rest begins from it.
    pub(super) taken: String,
    /// What waited before.
    pub(super) before: Option<PartsLeft>,
    /// What waits since.
    pub(super) after: PartsLeft,
}

/// What is left of a landing of which a part is taken back. It is written before the checkout is, and
/// counts if the landing has the mark for that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct HalfNote {
    /// The state after the landing from now on.
    pub(super) to: String,
    /// What it is made of from now on.
    pub(super) kept: LandingNote,
    /// The results that wait again, or parts of which do, as they were landed.
    pub(super) reopened: Vec<LandedRun>,
}

impl HalfNote {
    pub(super) fn read(landing: &Landing) -> Option<Self> {
        serde_json::from_slice(&landing.read(HALF)?).ok()
    }

    pub(super) fn write(&self, landing: &Landing) -> Result<(), WorkspaceError> {
        // Its values are texts and times, so it can always be written.
        let bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        landing.write(HALF, &bytes)
    }

    pub(super) fn remove(landing: &Landing) -> Result<(), WorkspaceError> {
        landing.remove(HALF)
    }
}

impl LandedRun {
    /// Returns the change that was landed. `None` if somebody else has written it, or an earlier version.
    pub(super) fn change(&self) -> Option<Change> {
        let whole = self.whole()?;
        match &self.part {
            None => Some(whole),
            Some(part) => Some(Change {
                result: ObjectId::parse(&part.taken)?,
                ..whole
            }),
        }
    }

    /// Returns its whole change, of which a part may have been landed.
    pub(super) fn whole(&self) -> Option<Change> {
        self.since(self.base.as_deref()?)
    }

    /// Returns its result as a change of a state. `None` if that is no commit.
    pub(super) fn since(&self, base: &str) -> Option<Change> {
        Some(Change {
            base: ObjectId::parse(base)?,
            result: ObjectId::parse(&self.result)?,
        })
    }
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
