//! # The tools for MCP clients
//!
//! `mcp`: the tools for a client of the Model Context Protocol, over stdin and stdout, or over HTTP on
//! this machine. [`run()`] serves them until the client leaves or a signal ends this process.
//!
//! `our_tools` answers calls, and `door` is the handler that the protocol's library calls. A call ends
//! early when its client cancels it, or when stdin ends; its `cancelled` then becomes ready, and the
//! call is waited for. A call that may take long is a task for a client that knows the tasks
//! extension. The reasons are in `docs/design/mcp.md`.

mod asking;
mod calls;
mod door;
mod extras;
mod http;
mod listing;
mod no_tools;
mod notes;
mod offering;
mod our_tools;
pub mod patience;
mod progress;
mod resources;
mod roots;
mod run;
mod serve;
mod tasks;
mod tools;
mod waited_answer;
mod watched_input;

pub use run::{McpOptions, run};
