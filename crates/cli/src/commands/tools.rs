//! `tools`: prints the tools as a caller's model sees them.

use std::process::ExitCode;
use std::sync::Arc;

use super::tool_table::table;
use crate::places::find_places;
use clap::Args;
use pi_subagents_configuration::Catalogue;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use pi_subagents_calls::{Offered, Tool, ToolSet, choices_of, mcp_tools, tools};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::{Envelope, EnvelopeKind, Printer};
use pi_subagents_pi_host::{COMMANDS, PROTOCOL};

#[derive(Args)]
pub(crate) struct ToolsArgs {
    /// Tools to print [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// With --json, also name the agents that each tool accepts here
    #[arg(long, requires = "json")]
    choices: bool,
}

pub(crate) fn run(args: &ToolsArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let mut tools = if printer.is_json() && args.names.is_empty() {
        // The extension registers the tools that every door has.
        tools()
    } else {
        let mut all = mcp_tools(ToolSet::All);
        let of_pi = tools().into_iter();
        let is_new = |tool: &Tool| !all.iter().any(|known| known.name == tool.name);
        let of_pi: Vec<Tool> = of_pi.filter(is_new).collect();
        all.extend(of_pi);
        all
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
    let configuration = Configuration::read_once(&find_places()?, false);
    Ok(Some(configuration.catalogue))
}

/// Returns everything that the pi extension registers.
pub(super) fn manifest_of_all() -> Value {
    json!(Envelope::new(
        EnvelopeKind::Result,
        manifest(&tools(), None)
    ))
}

/// Returns the manifest for pi's extension; with a catalogue it names the definitions of each tool.
fn manifest(tools: &[Tool], catalogue: Option<&Catalogue>) -> ToolsResult {
    let choices = |tool: &Tool| choices_of(tool, catalogue?);
    let commands = COMMANDS.iter().map(|command| PrintedCommand {
        name: command.name,
        description: command.description,
    });
    ToolsResult {
        protocol: PROTOCOL,
        tools: tools
            .iter()
            .map(|tool| PrintedTool::of(tool, choices(tool)))
            .collect(),
        commands: commands.collect(),
    }
}

/// The JSON of `tools`: what pi's extension registers.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ToolsResult {
    /// The version of the protocol between pi's extension and its host.
    protocol: u32,
    tools: Vec<PrintedTool>,
    /// The slash commands inside pi.
    commands: Vec<PrintedCommand>,
}

/// A tool that models call.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PrintedTool {
    name: &'static str,
    label: &'static str,
    description: &'static str,
    prompt_snippet: &'static str,
    prompt_guidelines: &'static [&'static str],
    /// The JSON schema of its arguments.
    parameters: Value,
    /// True if it is offered only with the models that may be named in it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    models: bool,
    /// True if it is offered only once there are results.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    results: bool,
    /// True if it is offered only once a run has a question that its caller's model can answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    questions: bool,
    /// With `--choices`, the agents that it accepts here.
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<String>,
}

/// A slash command inside pi.
#[derive(Serialize, JsonSchema)]
struct PrintedCommand {
    name: &'static str,
    description: &'static str,
}

impl PrintedTool {
    fn of(tool: &Tool, choices: Option<String>) -> Self {
        Self {
            name: tool.name,
            label: tool.label,
            description: tool.description,
            prompt_snippet: tool.snippet,
            prompt_guidelines: tool.guidelines,
            parameters: tool.parameters.clone(),
            models: tool.needs_models,
            results: tool.offered == Offered::WithResults,
            questions: tool.offered == Offered::WithQuestions,
            choices,
        }
    }
}

fn to_page(tool: &Tool) -> String {
    format!(
        "## {}\n\n{}\n\n{}",
        tool.name,
        tool.description,
        table(&tool.parameters)
    )
}
