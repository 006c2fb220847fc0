//! The tool for results that wait in worktrees: `merge_subagents` says which of them fit, and
//! brings them into the checkout of its caller. It is offered only to callers that have a result.

mod act;
mod text;
mod tools;
mod waiting;

pub(crate) use act::merge_subagents;
pub use tools::{MERGE, tools};
pub use waiting::{changes, changes_of_one, has_results, waiting_runs};
