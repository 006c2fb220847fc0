//! A tool call, from its arguments to its answer, through every door: the arguments of the caller,
//! the plan, and the answer.

mod answer;
mod arguments;
mod call;
pub(crate) mod caller;
mod choices;
pub(crate) mod destination;
pub(crate) mod detached;
pub(crate) mod families;
#[cfg_attr(not(feature = "fleet"), path = "fleet/absent.rs")]
pub(crate) mod fleet;
mod followed;
mod named_session;
#[cfg(test)]
mod never_panics;
pub(crate) mod next_steps;
pub(crate) mod open_run;
mod opened_task;
pub(crate) mod owner;
pub(crate) mod preview;
pub(crate) mod progress;
mod resolve;
mod result_lines;
mod run_json;
pub(crate) mod runner;
pub(crate) mod service;
mod sweeper;
mod task_terms;
mod tmux;
mod tool;
pub(crate) mod trust_question;
mod unknown_fields;
mod updates;
pub(crate) mod watch;
mod window_json;
mod window_record;
mod work;
pub(crate) mod worker_options;

pub(crate) use answer::{Answer, whole_output};
pub(crate) use arguments::CallError;
pub(crate) use call::{Call, ReadyCall};
pub(crate) use choices::choices_of;
pub(crate) use resolve::model_place;
pub(crate) use task_terms::{SchemaWish, TaskTerms};
pub(crate) use tool::{Effect, Offered, Tool};
pub(crate) use unknown_fields::check_fields;
pub(crate) use window_record::{Seen, WindowRecord};

use self::families::{background, delegation, merging, runs, subagent};

/// Returns the tools of the MCP door: all of them, and the tool for clients that have no other way
/// to look after runs.
pub(crate) fn mcp_tools() -> Vec<Tool> {
    [tools(), runs::tools()].into_iter().flatten().collect()
}

/// Returns the tools that every door has, family by family.
pub(crate) fn tools() -> Vec<Tool> {
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
pub(crate) fn uses_definitions(name: &str) -> bool {
    mcp_tools()
        .iter()
        .any(|tool| tool.name == name && tool.uses_definitions)
}
