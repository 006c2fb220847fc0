//! A conversation that runs continue, one at a time.

use serde::{Deserialize, Serialize};

/// The entry of a session in the store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionEntry {
    /// The run that has it.
    pub holder: Option<String>,
    /// The number of the delivery of that run.
    pub n: u64,
    /// The object with the session file, once there is one.
    pub object: Option<String>,
    /// Its size in bytes.
    pub size: u64,
    /// The machine that continues it without the fleet.
    pub local: Option<String>,
}
