//! Gates: commands that must pass before a run counts as completed.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A command that must pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// The command, for `sh -c`.
    pub command: String,
    /// The time limit of the command.
    pub timeout: Duration,
    /// The number of times that the sub-agent gets the failure and may mend it.
    pub retries: u32,
}

impl Gate {
    /// The time limit of a gate by default.
    pub const USUAL_TIMEOUT: Duration = Duration::from_mins(10);

    /// The number of retries by default.
    pub const USUAL_RETRIES: u32 = 2;

    /// Makes a gate with the usual time and retries.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            timeout: Self::USUAL_TIMEOUT,
            retries: Self::USUAL_RETRIES,
        }
    }
}

/// Something that happened to a gate of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gated {
    /// The command.
    pub command: String,
    /// The number of times that it has been run, this time included.
    pub attempt: u32,
    /// The step that happened.
    pub step: GateStep,
}

/// The steps of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateStep {
    /// The command began.
    Began,
    /// It ended with 0.
    Passed,
    /// It did not pass.
    Failed {
        /// The way in which it ended, in a few words.
        reason: String,
    },
}
