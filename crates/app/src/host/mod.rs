//! The host: what is behind the door into pi.
//!
//! One process per pi, which speaks JSON-RPC with the shim on stdin and stdout (`wire.rs`,
//! `connection.rs`) and owns the runs of that pi. `calls.rs` are its tool calls under way,
//! `session.rs` is how anything of ours speaks to pi. Why it is so is written in
//! `docs/design/pi-door.md`.

mod calls;
mod callers;
mod commands;
mod connection;
mod serve;
mod session;
mod wire;

pub(crate) use commands::COMMANDS;
pub(crate) use serve::serve;
