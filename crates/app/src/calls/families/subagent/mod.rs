//! The subagent family: `subagent`, whose tasks name a definition and whose conversations can be
//! continued.

mod answer;
mod call;
mod open;
mod schema;
mod tools;

pub(crate) use answer::{block, new_session};
pub(crate) use call::check_agent;
pub(crate) use open::ASKER;
pub(crate) use schema::{AgentTask, SubagentCall, task_parameters};
pub(crate) use tools::{SUBAGENT, tools};
