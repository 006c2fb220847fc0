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

pub mod acts;
mod answer;
mod arguments;
mod begin;
mod budget;
mod call;
mod call_ground;
mod call_sinks;
pub mod caller;
mod choices;
pub mod destination;
pub mod detached_process;
pub mod elsewhere;
pub mod families;
mod first_requests;
mod graph;
#[cfg(test)]
mod never_panics;
pub mod open_run;
pub mod opened_task;
pub mod owner;
pub mod preview;
pub mod progress;
pub mod questions;
pub mod request;
pub mod resolve;
mod result_lines;
pub mod review_desk;
pub mod review_question;
pub mod runner;
pub mod service;
pub mod shared_room;
pub mod start_from_screen;
mod sweeper;
mod tmux;
mod tool;
pub mod trust_question;
mod unbegun_runs;
mod unknown_fields;
mod updates;
mod user_variables;
pub mod watch;
mod window_json;
mod window_record;
pub mod work;

pub use answer::{Answer, AttemptPart, left_attempt_line, whole_output};
pub(crate) use arguments::CallError;
pub use begin::{PreparedCaller, begin};
pub use budget::{BudgetWishes, session_of_this_process};
pub use call::{Call, ReadyCall};
pub use choices::{agents_of, choices_of};
pub use first_requests::Consent;
pub use request::{Continues, TaskRequest};
pub use resolve::{ForeignModel, ModelReason, model_place};
pub use tool::{Effect, Offered, Tool};
pub use unknown_fields::check_fields;
pub use user_variables::user_variables;
pub use window_record::{SeenLines, WindowRecord};

use self::families::{
    answers, background, delegation, merging, review_tool, runs, start_tool, subagent,
};

/// The tools that an MCP client is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSet {
    /// One tool for each purpose.
    Compact,
    /// All tools that pi has too.
    All,
}

/// Returns the tools of the MCP door.
pub fn mcp_tools(set: ToolSet) -> Vec<Tool> {
    let listing = delegation::tools().into_iter();
    let mut listing = listing.filter(|tool| tool.name == delegation::PROFILES);
    let families = match set {
        ToolSet::Compact => vec![
            start_tool::tools(),
            runs::client_tools(),
            listing.by_ref().collect(),
            merging::tools(),
            review_tool::tools(),
        ],
        ToolSet::All => vec![
            delegation::tools(),
            subagent::tools(),
            background::tools(),
            merging::tools(),
            review_tool::tools(),
            runs::client_tools(),
        ],
    };
    families.into_iter().flatten().collect()
}

/// Returns the tools inside pi, family by family, which the command line has too.
pub fn tools() -> Vec<Tool> {
    let families = [
        delegation::tools(),
        subagent::tools(),
        background::tools(),
        runs::tools(),
        merging::tools(),
        review_tool::tools(),
        answers::tools(),
    ];
    families.into_iter().flatten().collect()
}

/// Returns whether calls of a tool use definitions, so that they depend on whether the project is
/// trusted.
pub fn uses_definitions(name: &str) -> bool {
    tools()
        .iter()
        .any(|tool| tool.name == name && tool.uses_definitions)
}
