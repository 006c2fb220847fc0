//! The tool for results that wait in worktrees: `merge_subagents` says which of them fit, and
//! brings them into the checkout of its caller. It is offered only to callers that have a result.

mod act;
mod mergeable_runs;
mod text;
mod tools;

pub(crate) use act::merge_subagents;
pub use mergeable_runs::{changes, changes_of_one, has_results, waiting_runs};
pub use tools::{MERGE, tools};
