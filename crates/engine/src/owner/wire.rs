//! What is said on an owner's socket.

use serde::{Deserialize, Serialize};

/// What is asked of an owner about one of its runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerRequest {
    /// The run.
    pub run: String,
    /// What is wanted of it.
    pub want: Want,
}

/// What can be wanted of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Want {
    /// Its end; answered when nothing of it is left.
    Stop,
    /// News of its end.
    Wait,
    /// What its model says, as it says it; answered again and again until the run is over.
    Listen,
    /// That its child hears something.
    Steer {
        /// What it hears.
        message: String,
    },
}

/// What the owner answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OwnerReply {
    /// It was done.
    Done,
    /// It was not, and this is why.
    Refused {
        /// What a person reads.
        message: String,
    },
}

/// More of what a model says; many of these come before the reply to whoever listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SpeechNews {
    /// How many of its answers were complete before.
    pub(super) message: usize,
    /// How many bytes of what was told before still hold.
    pub(super) kept: usize,
    /// What follows them.
    pub(super) text: String,
    /// What it does.
    pub(super) act: Act,
}

/// What a model does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Act {
    /// It speaks, or nothing is known of it.
    #[default]
    Speaking,
    /// It thinks.
    Thinking,
    /// It writes the call of a tool.
    Calling {
        /// The tool.
        tool: String,
    },
}
