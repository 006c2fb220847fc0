//! The clocks of a run in paused time: the child and its keeper are played by the test.

mod child_exit;
mod decisions;
mod fallbacks;
mod models;
mod questions;
mod reports;
pub(crate) mod stand;
mod timeouts;
