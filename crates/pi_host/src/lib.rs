//! # The host of pi
//!
//! The host: the process behind the door into pi.
//!
//! There is one process per pi. It exchanges JSON-RPC with the shim on stdin and stdout (`wire.rs`,
//! `connection.rs`) and owns the runs of that pi. `serve.rs` answers the requests of pi; `calls.rs`
//! are its tool calls under way; `link.rs` sends messages to pi; `record.rs` writes the entries of
//! its runs, `background_watch.rs` follows its background runs, `asking_run.rs` reads what they ask; `trust.rs` asks about projects;
//! `commands/` are `/profile` and `/subagents`, and `dialogs.rs` asks their questions. The reasons
//! are in `docs/design/pi-door.md`.

mod asking_run;
mod background_watch;
mod background_widget;
mod callers;
mod calls;
mod commands;
mod connection;
mod dialogs;
mod execution;
mod left_runs;
mod link;
mod questions;
mod record;
mod results;
mod serve;
mod trust;
mod wire;

pub use commands::COMMANDS;
pub(crate) use link::{HostLink, Level, SessionMessage};
pub use serve::serve;
pub use wire::PROTOCOL;
