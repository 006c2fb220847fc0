//! A call whose runs work on other machines: its destination, its files, and its followers.

mod begin;
mod cloned;
pub(crate) mod conversation;
mod departure;
mod dry_run;
mod left_files;
mod order;
mod packed;
mod sent_files;
mod shared_sinks;
mod submit;
mod under_way;

pub(crate) use departure::FleetDeparture;
pub use dry_run::DryRun;
pub(crate) use order::may_travel;
