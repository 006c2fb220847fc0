//! The preview of a tool call in a window: a table from the tool's name to a function.
//!
//! A new tool is one function, one row and one line of the snapshot. Arguments come from a model
//! and may be anything; a value that cannot be shown becomes `...`.

mod arguments;
mod call_preview;
mod context;
mod delegation;
mod files;
mod lsp;
mod other_tools;
mod outcome;
mod path;
mod search;
mod sentence;
mod shell;
mod todos;
mod web;

use pi_subagents_vocabulary::ToolResult;
use serde_json::Value;

use crate::Line;
use arguments::Arguments;
pub use call_preview::CallPreview;
pub use context::PreviewContext;
pub use outcome::{CallOutcome, changes};
use sentence::Sentence;

/// Returns the lines that show a call; the first has the most important part, further ones continue
/// it.
pub fn call(tool: &str, arguments: &Value, context: &PreviewContext) -> Vec<Line> {
    CallPreview::new(tool, arguments, context).lines(&CallOutcome::Untold, context.width())
}

/// Returns the lines that show a call and its outcome.
pub fn answered(
    tool: &str,
    arguments: &Value,
    result: &ToolResult,
    context: &PreviewContext,
) -> Vec<Line> {
    CallPreview::new(tool, arguments, context).lines(&CallOutcome::of(result), context.width())
}

fn one_line(tool: &str, arguments: Arguments<'_>, context: &PreviewContext) -> Sentence {
    match tool {
        "read" => files::read(arguments, context),
        "write" => files::write(arguments, context),
        "edit" => files::edit(arguments, context),
        "lint_files" => files::lint(arguments, context),
        "ls" => search::ls(arguments, context),
        "find" => search::find(arguments, context),
        "grep" => search::grep(arguments, context),
        "write_todos" => todos::write(arguments),
        "edit_todos" => todos::edit(arguments),
        "fetch_content" | "fetch_repo" => web::fetch(tool, arguments),
        "web_search" => web::search(tool, arguments),
        "delegate_to_subagents" => delegation::delegate(arguments),
        "get_subagent_output" | "get_subagent_session" => delegation::retrieve(tool, arguments),
        "list_subagent_profiles" | "list_todos" => Sentence::new(tool),
        "workflow_step" => other_tools::workflow_step(arguments),
        "lsp_find_symbol" => lsp::find_symbol(tool, arguments),
        "lsp_refactor_symbol" => lsp::refactor_symbol(tool, arguments, context),
        tool if tool.starts_with("lsp_") => lsp::position(tool, arguments, context),
        tool => other_tools::any(tool, arguments),
    }
}
