//! A call whose runs work on other machines: its destination, its files, and its followers.

mod begin;
mod cloned;
mod conversation;
mod departure;
mod dry_run;
mod guest;
mod left_files;
mod order;
mod packed;
mod sent_files;
mod shared_sinks;
mod submit;
mod under_way;
mod worker;

pub use dry_run::DryRun;
pub use guest::invite;
pub use worker::work_as_worker;
