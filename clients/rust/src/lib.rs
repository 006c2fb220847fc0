//! # Sub-agents for a Rust program, without their weight
//!
//! This crate starts the program `pi-subagents` and reads its JSON. It links no part of the engine,
//! so it compiles in seconds. The program is named, or found by `PI_SUBAGENTS_BIN` or on `PATH`.
//!
//! Begin with [`Client`]: it starts a [`Task`] as a [`Call`], which is a stream of [`Event`]s and
//! ends in an [`Answer`]. A task may return a type of yours ([`Task::returns`]), and an [`Agent`] may
//! be defined in code.
//!
//! Everything that the program records stays on disk: [`Client::runs`] lists earlier runs, and
//! [`Client::resume`] goes on with one.

#![expect(
    clippy::disallowed_methods,
    reason = "this crate is for programs of others: it starts ours, and has no app around it"
)]

mod agent;
mod call;
mod client;
mod event;
mod failure;
mod private_directory;
mod run;
mod task;

pub use agent::Agent;
pub use call::{Answer, Call};
pub use client::Client;
pub use event::{Event, EventKind};
pub use failure::{ClientError, ErrorKind};
pub use run::{Ending, Message, Run, Status, Usage};
pub use task::Task;

/// Functions of this program as tools of its sub-agents.
pub use pi_subagents_host_tools::{HostToolServer, HostTools};

/// What every stream of this crate implements.
pub use futures_core::Stream;
/// The crate whose `JsonSchema` a returned type derives.
pub use schemars;
