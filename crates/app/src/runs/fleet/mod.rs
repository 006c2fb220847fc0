//! Runs that a fleet does. Their records are written on other machines; here they are copied byte
//! for byte into the run directories of the caller, where everybody who reads runs finds them.

mod catch_up;
pub(crate) mod connection;
pub(crate) mod control;
mod copied;
mod fed;
mod follow;
mod following;
mod given;
mod results;
mod wants;
mod words;

pub(crate) use catch_up::{catch_up, follow_left};
pub(crate) use follow::{Until, follow_until};
pub(crate) use following::FleetRun;
pub(crate) use given::GivenOrder;
pub(crate) use wants::{WorkerRequest, WorkerWant};
