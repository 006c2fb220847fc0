//! The subagent family: `subagent`, whose tasks name a definition and whose conversations can be
//! continued.

mod answer;
mod call;
mod open;
mod schema;
mod tools;

pub use answer::{block, new_session};
pub use open::ASKER;
pub use schema::{SubagentCall, task_parameters};
pub use tools::{SUBAGENT, tools};
