//! Calls whose tasks wait for others, or are done for each item of a list: from the tasks as they are
//! written to the tasks of runs. The rules are in `vocabulary`, see `docs/design/graphs.md`.

mod attempt_judge;
mod bounds;
mod late_runs;
mod map_items;
mod unfolded_call;

pub(crate) use bounds::CallBounds;
pub(crate) use late_runs::{LateRuns, workspace_value};
pub(crate) use unfolded_call::{CallGraph, DoneTasks, Unfolded, WrittenCall, unfold};
