//! The host: what is behind the door into pi.
//!
//! One process per pi, which speaks JSON-RPC with the shim on stdin and stdout (`wire.rs`,
//! `connection.rs`) and owns the runs of that pi. `serve.rs` answers what pi asks; `calls.rs` are
//! its tool calls under way; `session.rs` is how anything of ours speaks to pi; `memory.rs` knows
//! the runs of the session pi is in, and `entries.rs` what that session keeps of them;
//! `trust.rs` asks about projects; `commands/` are `/profile` and `/subagents`, and `dialogs.rs`
//! asks their questions. Why it is so is written in `docs/design/pi-door.md`.

mod callers;
mod calls;
mod commands;
mod connection;
mod dialogs;
mod entries;
mod execution;
mod left_runs;
mod memory;
mod record;
mod serve;
mod session;
mod trust;
mod wire;

pub(crate) use commands::COMMANDS;
pub(crate) use entries::Entry;
pub(crate) use memory::Memory;
pub(crate) use serve::serve;
pub(crate) use session::{HostLink, Level, SessionListener, StartedSession};
