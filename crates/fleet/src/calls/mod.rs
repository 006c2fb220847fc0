//! A call whose runs work on other machines: its destination, its files, and its followers.

mod begin;
pub(crate) mod conversation;
mod departure;
mod dry_run;
mod left_files;
mod order;
mod package;
mod published_project;
mod purses;
mod running_call;
mod sent_files;
mod shared_sinks;
mod submit;

pub(crate) use departure::FleetDeparture;
pub use dry_run::{DryRun, DryRunResult};
pub(crate) use order::may_travel;
