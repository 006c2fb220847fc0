//! The delegation family: `delegate_to_subagents` and what belongs to it.

mod answer;
mod attachments;
mod details;
mod earlier;
mod lower;
mod schema;
mod tools;

pub(crate) use answer::Answer;
pub(crate) use details::WindowRecord;
pub(crate) use lower::{Lowering, Overrides};
pub(crate) use schema::{DelegateCall, TaskCall};
pub(crate) use tools::{Tool, tools};
