//! The tool with which a model answers a question of a run that it has started. It is offered with
//! the first question. Over MCP `subagent_runs` does the same, as one of its actions.

mod act;
mod tools;

pub(crate) use act::{GivenAnswer, answer_subagent, answer_with};
pub use tools::{ANSWER, tools};
