//! How a tool call reads in a window: a table from the tool's name to a function.
//!
//! A new tool is one function, one row and one line of the snapshot. Arguments come from a model
//! and may be anything; what cannot be shown is `...`.

mod arguments;
mod context;
mod delegation;
mod files;
mod lsp;
mod other;
mod path;
mod search;
mod sentence;
mod shell;
mod todos;
mod web;

use pi_subagents_delegation::ToolResult;
use serde_json::Value;

use crate::Line;
use arguments::Arguments;
pub use context::PreviewContext;
use sentence::Sentence;

/// Returns the lines that show a call; the first says the most, further ones continue it.
pub fn call(tool: &str, arguments: &Value, context: &PreviewContext) -> Vec<Line> {
    let arguments = Arguments::new(arguments);
    match tool {
        "bash" => shell::bash(arguments, context),
        tool => vec![one_line(tool, arguments, context).fitted(context.width())],
    }
}

/// How wide a line is at most that is not cut to a screen.
const WHOLE_WIDTH: usize = 4096;

/// Returns the lines that show all of a call, whatever the width of the screen is.
pub(crate) fn whole(tool: &str, arguments: &Value, context: &PreviewContext) -> Vec<Line> {
    let arguments = Arguments::new(arguments);
    let context = PreviewContext {
        width: WHOLE_WIDTH,
        ..context.clone()
    };
    match tool {
        "bash" => shell::whole(arguments, &context),
        tool => vec![one_line(tool, arguments, &context).fitted(context.width())],
    }
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
        "workflow_step" => other::workflow_step(arguments),
        "lsp_find_symbol" => lsp::find_symbol(tool, arguments),
        "lsp_refactor_symbol" => lsp::refactor_symbol(tool, arguments, context),
        tool if tool.starts_with("lsp_") => lsp::position(tool, arguments, context),
        tool => other::any(tool, arguments, context),
    }
}

/// Returns whether what comes of a call gets a line of its own.
pub(crate) fn has_summary(tool: &str) -> bool {
    matches!(tool, "ls" | "find")
}

/// Sums up the result of a call, for the tools that have a summary.
pub fn summary(result: &ToolResult) -> Option<Line> {
    if result.is_error {
        return None;
    }
    match result.tool.as_str() {
        "ls" => Some(search::ls_summary(&result.text())),
        "find" => Some(search::find_summary(&result.text())),
        _ => None,
    }
}
