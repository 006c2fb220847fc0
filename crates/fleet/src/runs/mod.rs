//! Runs that a fleet does. Their records are written on other machines; here they are copied byte
//! for byte into the run directories of the caller, where everybody who reads runs finds them.

mod catch_up;
pub(crate) mod connection;
pub(crate) mod control;
pub(crate) mod conversation;
mod elsewhere;
mod end_notice;
mod event_feed;
mod examine;
mod fleet_run;
mod follow;
mod given_order;
mod large_files;
mod live_words;
mod missing_changes;
mod own_fleet;
mod own_thread;
mod record_copy;
mod results;
mod setup;
mod words;
mod worker_requests;

pub(crate) use catch_up::{catch_up, follow_in_fleet};
pub(crate) use control::ask_fleet;
pub(crate) use elsewhere::look_elsewhere;
pub(crate) use live_words::FleetWords;
pub(crate) use missing_changes::fetch_missing;
pub use own_fleet::{OwnFleet, new_key};

// The rest is for the calls that go to a fleet.
pub(crate) use fleet_run::FleetRun;
pub(crate) use follow::{Until, follow_until};
pub(crate) use given_order::GivenOrder;
pub(crate) use large_files::fetch_large_files;
pub(crate) use live_words::HEARD;
pub(crate) use words::spoilt;
pub(crate) use worker_requests::{WorkerRequest, WorkerWant};
