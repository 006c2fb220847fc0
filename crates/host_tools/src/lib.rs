//! # Functions of a program as tools of its sub-agents
//!
//! A program names functions in [`HostTools`] and serves them. Its sub-agents call them as tools of an
//! MCP server, which listens on the loopback interface and answers nobody without its token.
//!
//! In reading order: `host_tools` holds the functions, `host_tool_server` accepts connections,
//! `http_request` reads a request within bounds, and `protocol` answers its message.
//!
//! The server speaks as much of HTTP and of the protocol as a client needs for tools. A framework for
//! either would be most of the weight of the client crate, which has this one below it.

mod host_tool_server;
mod host_tools;
mod http_request;
mod protocol;

pub use host_tool_server::HostToolServer;
pub use host_tools::HostTools;

/// The crate whose `JsonSchema` the arguments of a function derive.
pub use schemars;
