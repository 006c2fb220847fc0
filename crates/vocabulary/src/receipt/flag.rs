//! Facts about a run that somebody should look at. No fact is read out of prose.

use serde::{Deserialize, Serialize};

use super::{Receipt, TestState};

/// Something that somebody should look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Flag {
    /// The run completed, and its model called no tool.
    NoToolUsed,
    /// The run completed, and the last test that was seen failed.
    LastTestFailed,
    /// A file was changed after the last test had begun.
    ChangedAfterTest,
    /// The rest of the command line hides how the last test ended.
    TestHidden,
}

impl Flag {
    /// Returns the flags of a run.
    pub(super) fn of(receipt: &Receipt, is_completed: bool) -> Vec<Self> {
        let mut flags = Vec::new();
        if is_completed && receipt.turns > 0 && receipt.tools.is_empty() {
            flags.push(Self::NoToolUsed);
        }
        match receipt.tests.state {
            TestState::Failed if is_completed => flags.push(Self::LastTestFailed),
            TestState::Stale => flags.push(Self::ChangedAfterTest),
            TestState::Unclear => flags.push(Self::TestHidden),
            TestState::Failed | TestState::Passed | TestState::NotSeen => {}
        }
        flags
    }

    /// Returns the words for people and models.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoToolUsed => "no tool was used",
            Self::LastTestFailed => "the last test it ran failed",
            Self::ChangedAfterTest => "files changed after the last test",
            Self::TestHidden => "the rest of its command line hides how the last test ended",
        }
    }
}
