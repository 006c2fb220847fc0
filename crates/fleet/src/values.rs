//! The values in which the app speaks about a fleet. They name no message and no connection, so a
//! build without the fleet has them too.

use std::time::Duration;

use pi_subagents_vocabulary::{RunId, Secret};
use serde::Serialize;

/// A worker that is present in a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PresentWorker {
    pub pools: Vec<String>,
    /// The number of runs that it has room for.
    pub(crate) slots: u32,
    /// The number of these places that are free.
    pub free: u32,
    pub(crate) rank: u8,
    pub runs: Vec<String>,
    pub version: String,
    pub(crate) os: String,
    pub(crate) arch: String,
    /// The version of its pi, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pi: Option<String>,
    /// The models that it has keys for.
    pub models: Vec<String>,
    /// The time at which it began, by its clock.
    pub since: String,
    /// True if it takes nothing new.
    #[serde(rename = "draining", skip_serializing_if = "std::ops::Not::not")]
    pub is_draining: bool,
    pub name: String,
}

/// The load of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetLoad {
    pub pools: Vec<LoadedPool>,
    /// The runs under way that this machine does not know.
    pub others: Vec<OtherRun>,
}

/// The load of one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedPool {
    pub name: String,
    pub queued: u64,
    pub running: u64,
    /// The names of its workers.
    pub workers: Vec<String>,
}

/// A run under way that somebody on another machine asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherRun {
    pub run: RunId,
    pub session: String,
    pub name: String,
    /// The caller, as `user@machine`.
    pub caller: String,
    pub pool: String,
    /// The worker that has it; none while it is queued.
    pub worker: Option<String>,
}

/// A fleet as somebody wants it to be set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedFleet {
    pub pools: Vec<String>,
    /// The number of servers on which everything is kept.
    pub replicas: usize,
    /// The sizes of its records that are tried, in gigabytes, from the largest to the smallest.
    pub record_gigabytes: Vec<u64>,
}

/// A fleet that is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeFleet {
    pub server: String,
    pub version: String,
    pub record_gigabytes: u64,
}

/// The owner of a new key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOwner<'a> {
    Admin,
    Caller,
    Worker { name: &'a str, pools: &'a [String] },
}

/// A new key, and the rights on the server that its owner needs.
#[derive(Debug)]
pub struct NewKey {
    pub seed: Secret,
    pub public: String,
    /// The subjects to which its owner publishes.
    pub publish: Vec<String>,
    /// The subjects to which its owner subscribes.
    pub subscribe: Vec<String>,
    /// True if its owner answers requests.
    pub answers: bool,
}

/// The state in which a fleet was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExaminedFleet {
    /// The version of its server.
    pub version: String,
    pub found: Result<SoundFleet, FleetProblem>,
}

/// A fleet that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoundFleet {
    /// The time of one question and its answer.
    pub round_trip: Duration,
    /// The seconds by which our clock is behind the server's; negative if it is ahead.
    pub seconds_behind: i64,
    /// The number of workers in the pool of the settings.
    pub workers: usize,
}

/// The first reason that was found why a fleet cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetProblem {
    /// The server has no such stream or bucket.
    NotSetUp { what: String },
    /// Our key lacks permissions of a caller or a worker.
    Lacks {
        role: &'static str,
        permissions: Vec<String>,
    },
    /// Our key does not permit a question.
    NotAllowed { why: String },
    /// A question was not answered as it should be.
    Failed { why: String },
}
