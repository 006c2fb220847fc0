//! Facts about a run that somebody should look at. No fact is read out of prose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gate_files::changes_gate;
use super::{Receipt, TestState};

/// Something that somebody should look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Flag {
    /// The run completed, and its model called no tool.
    NoToolUsed,
    /// The run completed, and the last test that was seen failed.
    LastTestFailed,
    /// A file was changed after the last test had begun.
    ChangedAfterTest,
    /// Shell commands that may have changed files ran after the last test had begun.
    CommandsAfterTest,
    /// Nobody saw how the last test ended: its command line hides it, or it was cut short.
    TestHidden,
    /// The run changed a file that the command of its gate names.
    GateChanged,
    /// Nobody answered a question of its model, which had to assume something.
    Assumed,
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
            TestState::PassedBeforeCommands => flags.push(Self::CommandsAfterTest),
            TestState::Unclear => flags.push(Self::TestHidden),
            TestState::Failed | TestState::Passed | TestState::NotSeen => {}
        }
        if Self::is_gate_changed(receipt) {
            flags.push(Self::GateChanged);
        }
        if receipt.assumed > 0 {
            flags.push(Self::Assumed);
        }
        flags
    }

    /// Returns whether the run changed a file that the command of its gate names.
    pub(super) fn is_gate_changed(receipt: &Receipt) -> bool {
        let gate = receipt.gate.as_ref();
        gate.is_some_and(|gate| changes_gate(&gate.command, receipt))
    }

    /// Returns the words for people and models.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoToolUsed => "no tool was used",
            Self::LastTestFailed => "the last test it ran failed",
            Self::ChangedAfterTest => "files changed after the last test",
            Self::CommandsAfterTest => "commands after the last test may have changed files",
            Self::TestHidden => "how the last test ended was not seen",
            Self::GateChanged => "it changed a file of its gate",
            Self::Assumed => "nobody answered its question, so it assumed something",
        }
    }
}
