//! A call whose runs work on other machines: its destination, its files, and its followers.

mod begin;
mod cloned;
mod conversation;
mod departure;
mod dry_run;
mod left_files;
mod order;
mod packed;
mod sent_files;
mod shared_sinks;
mod submit;
mod under_way;
mod worker;

pub(crate) use conversation::{catch_up, work_here};
pub use departure::Departure;
pub use dry_run::DryRun;
pub(crate) use pi_subagents_fleet::wire::Order;
pub(crate) use under_way::work;
pub use worker::work_as_worker;
