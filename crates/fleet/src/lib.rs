//! # Runs on other machines
//!
//! The fleet is a guest: the rooms below ask about other machines through two traits
//! ([`Elsewhere`](pi_subagents_runs::elsewhere::Elsewhere) for runs,
//! [`CallsElsewhere`](pi_subagents_calls::elsewhere::CallsElsewhere) for calls), and do not know
//! that there is a fleet. A program that hands its [`guests`] over with its places has one. Read in this order:
//!
//! - `guest`: the answers to both traits;
//! - `calls`: a call that leaves, with its files and its conversations;
//! - `runs`: its runs, which are followed, copied, asked and fetched from here;
//! - `worker`: this machine as one that does the runs of others;
//! - [`values`]: what commands show of a fleet.
//!
//! The queue itself, its messages and its server are those of the crate `fleet_queue`.

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate, and many fields say enough by their names"
)]

mod calls;
mod guest;
mod runs;
pub mod values;
mod worker;

pub use calls::{DryRun, DryRunResult};
pub use guest::guests;
pub use pi_subagents_fleet_queue::wire::WorkerCard;
pub use pi_subagents_fleet_queue::{FleetError, LaggingServer, PoolLoad, Shape, Storage};
pub use runs::{OwnFleet, new_key};
pub use worker::{WorkerOptions, work_as_worker};
