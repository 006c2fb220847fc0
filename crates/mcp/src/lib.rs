//! # The tools for MCP clients
//!
//! `mcp`: the tools for a client of the Model Context Protocol, over stdin and stdout, or over HTTP on
//! this machine. [`run()`] serves them until the client leaves or a signal ends this process.
//!
//! `our_tools` answers calls, and `tool_server` is the handler that the protocol's library calls. A call ends
//! early when its client cancels it, or when stdin ends; its `cancelled` then becomes ready, and the
//! call is waited for. A call that may take long is a task for a client that knows the tasks
//! extension. The reasons are in `docs/design/mcp.md`.

mod bounded_transport;
mod calls;
mod client_questions;
mod elicitation;
mod extras;
mod hang_up;
mod http;
mod line_transport;
mod no_tools;
mod notes;
mod our_tools;
pub mod patience;
mod progress;
mod protocol_lists;
mod resources;
mod room;
mod roots;
mod run;
mod serve;
mod shared_places;
mod tasks;
mod tool_offer;
mod tool_server;
mod tools;
mod waited_answer;
mod watched_pipes;

pub use http::AllowedOrigins;
pub use run::{McpOptions, run};
