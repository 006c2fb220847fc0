//! # Tool calls
//!
//! A tool call, from its arguments to its answer, through every door: the arguments of the caller,
//! the plan, and the answer.

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate, and many fields say enough by their names"
)]
#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests make the files that they read"
    )
)]

mod answer;
mod arguments;
mod begin;
mod call;
pub mod caller;
mod choices;
pub mod destination;
pub mod detached;
pub mod elsewhere;
pub mod families;
mod followed;
#[cfg(test)]
mod never_panics;
pub mod open_run;
pub mod opened_task;
pub mod owner;
pub mod preview;
pub mod progress;
pub mod resolve;
mod result_lines;
mod run_json;
pub mod runner;
pub mod service;
pub mod start_from_screen;
mod sweeper;
mod task_terms;
mod tmux;
mod tool;
pub mod trust_question;
mod unknown_fields;
mod updates;
pub mod watch;
mod window_json;
mod window_record;
pub mod work;

pub use answer::{Answer, whole_output};
pub(crate) use arguments::CallError;
pub use begin::{PreparedCaller, begin};
pub use call::{Call, ReadyCall};
pub use choices::choices_of;
pub use resolve::model_place;
pub use task_terms::{SchemaWish, TaskTerms};
pub use tool::{Effect, Offered, Tool};
pub use unknown_fields::check_fields;
pub use window_record::{Seen, WindowRecord};

use self::families::{background, delegation, merging, runs, subagent};

/// Returns the tools of the MCP door: all of them, and the tool for clients that have no other way
/// to look after runs.
pub fn mcp_tools() -> Vec<Tool> {
    [tools(), runs::tools()].into_iter().flatten().collect()
}

/// Returns the tools that every door has, family by family.
pub fn tools() -> Vec<Tool> {
    let families = [
        delegation::tools(),
        subagent::tools(),
        background::tools(),
        merging::tools(),
    ];
    families.into_iter().flatten().collect()
}

/// Returns whether calls of a tool use definitions, so that they depend on whether the project is
/// trusted.
pub fn uses_definitions(name: &str) -> bool {
    mcp_tools()
        .iter()
        .any(|tool| tool.name == name && tool.uses_definitions)
}
