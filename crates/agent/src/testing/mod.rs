//! An agent on a script, in a directory of its own, whose events are collected.

mod bench;
mod events;
mod sandbox;
mod script;

pub(crate) use bench::{Bench, collect};
pub(crate) use events::{last, messages_of, normalized, outline};
pub(crate) use sandbox::Sandbox;
pub(crate) use script::{echo, script, tool_call};
