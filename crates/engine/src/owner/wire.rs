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
