//! # What a user has written down
//!
//! Reads files and never runs anything: today the `subagents` part of `settings.json`
//! ([`Settings`]).

mod settings;

pub use settings::{ResumeMode, RunnerChoice, Settings};
