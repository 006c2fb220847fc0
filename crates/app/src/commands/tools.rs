//! `tools`: what a caller's model sees of us.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::dialects::{Tool, tools};
use crate::host::COMMANDS;
use crate::print::Printer;

pub(crate) fn run(printer: Printer) -> ExitCode {
    if printer.is_json() {
        printer.json(&manifest());
    } else {
        let pages: Vec<String> = tools().iter().map(to_page).collect();
        printer.data(&pages.join("\n"));
    }
    ExitCode::SUCCESS
}

/// What the extension of pi registers.
fn manifest() -> Value {
    let tools: Vec<Value> = tools().iter().map(to_json).collect();
    let commands: Vec<Value> = COMMANDS
        .iter()
        .map(|command| json!({"name": command.name, "description": command.description}))
        .collect();
    json!({"tools": tools, "commands": commands})
}

fn to_json(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "label": tool.label,
        "description": tool.description,
        "promptSnippet": tool.snippet,
        "promptGuidelines": tool.guidelines,
        "parameters": tool.parameters,
    })
}

fn to_page(tool: &Tool) -> String {
    format!(
        "## {}\n\n{}\n\n```json\n{:#}\n```\n",
        tool.name, tool.description, tool.parameters
    )
}
