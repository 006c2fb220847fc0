//! Gates: commands that must pass before a run counts as completed.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A command that must pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// The command, for `sh -c`.
    pub command: String,
    /// How long it may take.
    pub timeout: Duration,
    /// How often the sub-agent is told that it fails and may mend it.
    pub retries: u32,
}

impl Gate {
    /// The time that a gate has unless it names another one.
    pub const USUAL_TIMEOUT: Duration = Duration::from_mins(10);

    /// The number of retries unless another one is given.
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
    /// How often it has been run, this time included.
    pub attempt: u32,
    /// What happened.
    pub step: GateStep,
}

/// What can happen to a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateStep {
    /// The command began.
    Began,
    /// It ended with 0.
    Passed,
    /// It did not pass.
    Failed {
        /// How it ended, in a few words.
        reason: String,
    },
}
