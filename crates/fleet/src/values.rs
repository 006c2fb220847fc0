//! Questions of commands about a whole fleet, answered with the cards and figures of its queue.

use std::collections::BTreeMap;

use pi_subagents_fleet_queue::wire::{RunCard, WorkerCard};
use pi_subagents_fleet_queue::{FleetError, MissingPart, Permissions, PoolLoad, Probe, Storage};
use pi_subagents_vocabulary::{RunId, Secret};

/// The load of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetLoad {
    pub pools: Vec<PoolLoad>,
    /// The names and cards of its workers.
    pub workers: Vec<(String, WorkerCard)>,
    /// The runs under way that this machine does not know.
    pub others: Vec<OtherRun>,
    /// The number of runs that ended with each status, as far as the fleet remembers.
    pub endings: BTreeMap<String, u64>,
    /// The number of those that were begun more than once.
    pub begun_again: u64,
    pub storage: Storage,
}

/// A run under way that somebody on another machine asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherRun {
    pub run: RunId,
    pub card: RunCard,
    /// The worker that has it; none while it is queued.
    pub worker: Option<String>,
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

/// A new key, and the permissions on the server that its owner needs.
#[derive(Debug)]
pub struct NewKey {
    pub seed: Secret,
    pub public: String,
    pub permissions: Permissions,
}

/// The state in which a fleet was found.
#[derive(Debug)]
pub struct ExaminedFleet {
    /// The version of its server.
    pub version: String,
    pub found: Result<SoundFleet, FleetProblem>,
}

/// A fleet that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoundFleet {
    pub probe: Probe,
    pub storage: Storage,
    /// The number of workers in the pool of the settings.
    pub workers: usize,
}

/// The first reason that was found why a fleet cannot be used.
#[derive(Debug)]
pub enum FleetProblem {
    /// The server lacks a stream or a bucket.
    NotSetUp(MissingPart),
    /// Our key lacks permissions of a caller or a worker.
    Lacks {
        role: &'static str,
        permissions: Vec<String>,
    },
    /// A question was not permitted, or not answered as it should be.
    Failed(FleetError),
}
