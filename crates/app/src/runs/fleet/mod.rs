//! Runs that a fleet does.

pub(crate) mod connection;
