//! The note beside a sticky session that a fleet keeps too.

use serde::{Deserialize, Serialize};

/// The state of a fleet's conversation that is in the file here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Travelled {
    /// The key of the conversation in the fleet.
    pub key: String,
    /// The object that held the same as the file here; none before anything was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
}
