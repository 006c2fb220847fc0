//! Runs that work on other machines: this machine as a worker of a fleet.

pub(crate) mod worker;
