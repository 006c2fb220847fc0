//! `tools`: prints the tools as a caller's model sees them.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use pi_subagents_configuration::Catalogue;
use serde_json::{Value, json};

use pi_subagents_calls::{Offered, Tool, choices_of, mcp_tools, tools};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_pi_host::{COMMANDS, PROTOCOL};

#[derive(Args)]
pub(crate) struct ToolsArgs {
    /// Tools to print [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// With --json, also name the definitions that each tool accepts here
    #[arg(long, requires = "json")]
    choices: bool,
}

pub(crate) fn run(args: &ToolsArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let mut tools = if printer.is_json() && args.names.is_empty() {
        // The extension registers the tools that every door has.
        tools()
    } else {
        mcp_tools()
    };
    if let Some(name) = args
        .names
        .iter()
        .find(|name| !tools.iter().any(|tool| tool.name == **name))
    {
        let known: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
        return Err(CommandError::not_found(format!("there is no tool {name}"))
            .hint(format!("There are {}.", known.join(", "))));
    }
    tools.retain(|tool| args.names.is_empty() || args.names.iter().any(|name| name == tool.name));
    if printer.is_json() {
        printer.json(&manifest(&tools, catalogue(args)?.as_deref()));
    } else {
        let pages: Vec<String> = tools.iter().map(to_page).collect();
        printer.data(&pages.join("\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the definitions visible from here, if they are asked for.
fn catalogue(args: &ToolsArgs) -> Result<Option<Arc<Catalogue>>, CommandError> {
    if !args.choices {
        return Ok(None);
    }
    let configuration = Configuration::read_once(&Places::find()?, false);
    Ok(Some(configuration.catalogue))
}

/// Returns everything that the pi extension registers.
pub(super) fn manifest_of_all() -> Value {
    manifest(&tools(), None)
}

/// Returns the manifest for pi's extension; with a catalogue it names the definitions of each tool.
fn manifest(tools: &[Tool], catalogue: Option<&Catalogue>) -> Value {
    let choices = |tool: &Tool| choices_of(tool, catalogue?);
    let to_json = |tool: &Tool| with_choices(to_json(tool), choices(tool));
    let tools: Vec<Value> = tools.iter().map(to_json).collect();
    let commands: Vec<Value> = COMMANDS
        .iter()
        .map(|command| json!({"name": command.name, "description": command.description}))
        .collect();
    json!({"protocol": PROTOCOL, "tools": tools, "commands": commands})
}

fn to_json(tool: &Tool) -> Value {
    let mut json = json!({
        "name": tool.name,
        "label": tool.label,
        "description": tool.description,
        "promptSnippet": tool.snippet,
        "promptGuidelines": tool.guidelines,
        "parameters": tool.parameters,
    });
    if tool.needs_models {
        json["models"] = true.into();
    }
    if tool.offered == Offered::WithResults {
        json["results"] = true.into();
    }
    json
}

fn with_choices(mut json: Value, choices: Option<String>) -> Value {
    if let Some(choices) = choices {
        json["choices"] = choices.into();
    }
    json
}

fn to_page(tool: &Tool) -> String {
    format!(
        "## {}\n\n{}\n\n```json\n{:#}\n```\n",
        tool.name, tool.description, tool.parameters
    )
}
