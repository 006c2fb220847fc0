//! The cards of workers and callers. Their owners renew them, and they vanish when they are not
//! renewed.

use serde::{Deserialize, Serialize};

/// The card of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkerCard {
    /// The pools it takes orders from.
    pub pools: Vec<String>,
    /// The number of runs that it has room for.
    pub slots: u32,
    /// The number of these places that are free.
    pub free: u32,
    /// Its rank: 0 is asked first.
    pub rank: u8,
    /// The runs it has.
    pub runs: Vec<String>,
    /// The version of pi-subagents.
    pub version: String,
    /// Its operating system.
    pub os: String,
    /// Its processor.
    pub arch: String,
    /// The version of pi, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pi: Option<String>,
    /// The models it has keys for.
    pub models: Vec<String>,
    /// The time at which it began, by its clock.
    pub since: String,
    /// This is true when it takes nothing new.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub draining: bool,
}

/// The card of a caller who waits for runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CallerCard {
    /// The caller who waits, as `user@machine`.
    pub caller: String,
    /// Since when, by its clock.
    pub since: String,
}
