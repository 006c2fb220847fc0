//! The tool families: what a caller writes, how it becomes a plan, and what it is answered.

mod answer;
mod arguments;
pub(crate) mod background;
mod call;
mod child_extension;
mod choices;
mod definition_use;
pub(crate) mod delegation;
pub(crate) mod lowering;
#[cfg(test)]
mod never_panics;
pub(crate) mod runs;
pub(crate) mod subagent;
mod tool;
mod unknown_fields;
mod window_json;
mod window_record;
mod working_directory;

pub(crate) use answer::Answer;
pub(crate) use arguments::CallError;
pub(crate) use call::{Call, ReadyCall, run};
pub(crate) use choices::choices_of;
pub(crate) use tool::{Effect, Tool};
pub(crate) use unknown_fields::check_fields;
pub(crate) use window_record::{Seen, WindowRecord};

/// The tools of the MCP door: all of them, and the one for those who have nothing else to look
/// after runs with.
pub(crate) fn mcp_tools() -> Vec<Tool> {
    [tools(), runs::tools()].into_iter().flatten().collect()
}

/// All tools that every door has, family by family.
pub(crate) fn tools() -> Vec<Tool> {
    [delegation::tools(), subagent::tools(), background::tools()]
        .into_iter()
        .flatten()
        .collect()
}
