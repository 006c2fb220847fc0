//! The values in which the app speaks about a fleet. They name no message and no connection, so a
//! build without the fleet has them too.

use std::time::Duration;

use pi_subagents_delegation::{RunId, Secret};
use serde::Serialize;

/// A worker that is present in a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PresentWorker {
    pub(crate) pools: Vec<String>,
    /// The number of runs that it has room for.
    pub(crate) slots: u32,
    /// The number of these places that are free.
    pub(crate) free: u32,
    pub(crate) rank: u8,
    pub(crate) runs: Vec<String>,
    pub(crate) version: String,
    pub(crate) os: String,
    pub(crate) arch: String,
    /// The version of its pi, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pi: Option<String>,
    /// The models that it has keys for.
    pub(crate) models: Vec<String>,
    /// The time at which it began, by its clock.
    pub(crate) since: String,
    /// True if it takes nothing new.
    #[serde(rename = "draining", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_draining: bool,
    pub(crate) name: String,
}

/// The load of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FleetLoad {
    pub(crate) pools: Vec<LoadedPool>,
    /// The runs under way that this machine does not know.
    pub(crate) others: Vec<OtherRun>,
}

/// The load of one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoadedPool {
    pub(crate) name: String,
    pub(crate) queued: u64,
    pub(crate) running: u64,
    /// The names of its workers.
    pub(crate) workers: Vec<String>,
}

/// A run under way that somebody on another machine asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OtherRun {
    pub(crate) run: RunId,
    pub(crate) session: String,
    pub(crate) name: String,
    /// The caller, as `user@machine`.
    pub(crate) caller: String,
    pub(crate) pool: String,
    /// The worker that has it; none while it is queued.
    pub(crate) worker: Option<String>,
}

/// A fleet as somebody wants it to be set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WantedFleet {
    pub(crate) pools: Vec<String>,
    /// The number of servers on which everything is kept.
    pub(crate) replicas: usize,
    /// The sizes of its records that are tried, in gigabytes, from the largest to the smallest.
    pub(crate) record_gigabytes: Vec<u64>,
}

/// A fleet that is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MadeFleet {
    pub(crate) server: String,
    pub(crate) version: String,
    pub(crate) record_gigabytes: u64,
}

/// The owner of a new key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyOwner<'a> {
    Admin,
    Caller,
    Worker { name: &'a str, pools: &'a [String] },
}

/// A new key, and the rights on the server that its owner needs.
#[derive(Debug)]
pub(crate) struct NewKey {
    pub(crate) seed: Secret,
    pub(crate) public: String,
    /// The subjects to which its owner publishes.
    pub(crate) publish: Vec<String>,
    /// The subjects to which its owner subscribes.
    pub(crate) subscribe: Vec<String>,
    /// True if its owner answers requests.
    pub(crate) answers: bool,
}

/// The state in which a fleet was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExaminedFleet {
    /// The version of its server.
    pub(crate) version: String,
    pub(crate) found: Result<SoundFleet, FleetProblem>,
}

/// A fleet that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SoundFleet {
    /// The time of one question and its answer.
    pub(crate) round_trip: Duration,
    /// The seconds by which our clock is behind the server's; negative if it is ahead.
    pub(crate) seconds_behind: i64,
    /// The number of workers in the pool of the settings.
    pub(crate) workers: usize,
}

/// The first reason that was found why a fleet cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FleetProblem {
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
