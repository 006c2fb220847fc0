//! # Other agents as children
//!
//! `pi-subagents bridge acp NAME` speaks pi's RPC protocol to its owner and the Agent Client Protocol
//! (ACP) over stdio to another agent, so that the engine keeps one protocol. The reasons are in
//! `docs/design/other-agents.md`.
//!
//! - `facts` is the table of the agents, as data
//! - `tool_means` decides how an agent keeps a list of tools, or refuses the list
//! - `flags` reads the command line, which is pi's
//! - `bridge` is the loop: commands of the owner in, messages of the agent in
//! - `opening` opens the agent's session: its model, its mode, its instructions
//! - `agent_link` starts the agent and carries its messages
//! - `translation` turns the updates of a session into pi's records, `tool_call` those of one call
//! - `permission` answers requests for permission
//! - `session_file` keeps the conversation, with the agent's own session
//! - `servers` names the MCP servers of a task to the agent
//! - `reports` is the MCP server with the tool that a run reports with
//!
//! JSON is read leniently: an agent may send updates that we do not know, and fields of other types.

mod agent_link;
mod bridge;
mod facts;
mod flags;
mod opening;
mod output;
mod permission;
mod reports;
mod run;
mod servers;
mod session_file;
mod tool_call;
mod tool_means;
mod tool_name;
mod translation;

pub use facts::{AgentFacts, ModelBy, facts_of};
pub use run::{BridgePlace, run};
pub use servers::obstacle_of;
pub use tool_means::{ToolMeans, means_of};
