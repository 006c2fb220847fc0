//! `tools`: what a caller's model sees of us.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::dialects::{Tool, tools};
use crate::print::Printer;

pub(crate) fn run(printer: Printer) -> ExitCode {
    if printer.is_json() {
        let tools: Vec<Value> = tools().iter().map(to_json).collect();
        printer.json(&json!({"tools": tools}));
    } else {
        let pages: Vec<String> = tools().iter().map(to_page).collect();
        printer.data(&pages.join("\n"));
    }
    ExitCode::SUCCESS
}

fn to_json(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "label": tool.label,
        "description": tool.description,
        "parameters": tool.parameters,
    })
}

fn to_page(tool: &Tool) -> String {
    format!(
        "## {}\n\n{}\n\n```json\n{:#}\n```\n",
        tool.name, tool.description, tool.parameters
    )
}
