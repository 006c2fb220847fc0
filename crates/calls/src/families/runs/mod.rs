//! The tool that looks after runs: `subagent_runs` lists them, waits for them, stops and steers
//! them. For MCP clients, which have no other tool for it, it also reads their sessions.

mod act;
mod client_runs;
mod tools;

pub(crate) use act::subagent_runs;
pub use client_runs::{Answers, answer_of, of_caller};
pub use tools::{RUNS, client_tools, tools};
