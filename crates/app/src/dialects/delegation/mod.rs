//! The delegation family: `delegate_to_subagents` and what belongs to it.

mod answer;
mod attachments;
mod call;
mod lower;

pub(crate) use answer::Answer;
pub(crate) use call::{DelegateCall, TaskCall};
pub(crate) use lower::{Lowering, Overrides};
