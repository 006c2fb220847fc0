//! The binary as its users know it: real processes, a hermetic home, children that misbehave.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

mod agent_faults;
mod agent_formats;
mod agent_keys;
mod agent_pi;
mod agent_sessions;
mod agent_stage;
mod answers;
mod background;
mod background_crowd;
mod background_host;
mod background_pi;
mod background_stage;
mod concurrency;
mod control;
mod definitions;
mod endings;
mod offline;
mod profile;
mod real_model;
mod record;
mod refusals;
mod resume;
mod session_lock;
mod stage;
mod stopping;
mod trust;
