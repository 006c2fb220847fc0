//! A call whose runs work on other machines: its destination, its files, and its followers.

mod begin;
mod cloned;
pub(crate) mod conversation;
mod departure;
mod destination;
mod dry_run;
mod order;
mod packed;
mod sent_files;
mod shared_sinks;
mod submit;
mod under_way;
pub(crate) mod worker;

pub(crate) use departure::Departure;
pub(crate) use destination::Destination;
pub(crate) use dry_run::DryRun;
pub(crate) use order::Ordered;
pub(crate) use under_way::work;
