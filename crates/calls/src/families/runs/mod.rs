//! The tool for runs that are under way: `subagent_runs` lists them, waits for them, stops and
//! steers them. It is for callers without a command line and without notices about the end of a
//! run, so only the MCP door has it.

mod act;
mod known;
mod tools;

pub(crate) use act::subagent_runs;
pub use known::{answer_of, of_client};
pub use tools::{RUNS, tools};
