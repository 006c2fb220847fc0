//! The tool families: what a caller writes, how it becomes a plan, and what it is answered.

mod arguments;
mod child_extension;
mod definition_use;
pub(crate) mod delegation;
mod tool;
mod working_directory;

pub(crate) use arguments::CallError;
pub(crate) use tool::Tool;

/// All tools, family by family.
pub(crate) fn tools() -> Vec<Tool> {
    delegation::tools()
}
