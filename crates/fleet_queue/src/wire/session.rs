//! A conversation that runs on several machines continue, one after the other.

use serde::{Deserialize, Serialize};

/// The state of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionEntry {
    /// The run that has it; none if nobody has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<SessionHolder>,
    /// The object with everything that was said; none before anything was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<SavedSession>,
}

/// The run that has a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionHolder {
    /// The run.
    pub run: String,
    /// The number of its delivery; 0 for a run that its caller's own machine does.
    pub n: u64,
    /// The machine of such a run, as `user@machine`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

/// A conversation among the objects of the fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedSession {
    /// The object.
    pub object: String,
    /// Its size in bytes.
    pub size: u64,
}
