//! `agents list`: every definition that counts, as a table for people and in JSON for programs.
//! Inside pi the list has the lines that the tool gives to a model.

use std::process::ExitCode;

use pi_subagents_configuration::{Asker, listing};
use pi_subagents_view::{Column, Line, Role, table};
use pi_subagents_vocabulary::{Definition, Door, Scope, ThinkingLevel, Translation, text};

use super::agent_list::listed;
use super::visible_agents::VisibleAgents;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::sheet::Sheet;

/// The columns from left to right. A narrow terminal loses the scope first, then the format, the
/// tools and the model.
const COLUMNS: [Column; 6] = [
    Column::words("NAME", 0, 16, 28),
    Column::whole("FORMAT", 3),
    Column::words("MODEL", 1, 12, 28),
    Column::words("TOOLS", 2, 12, 32),
    Column::whole("SCOPE", 4),
    Column::words("DESCRIPTION", 0, 24, usize::MAX),
];

/// The number of characters of a description or a prompt that a pipe gets.
const LONGEST_WORDS: usize = 200;

/// The list without an agent, for a person with a shell.
const NO_AGENTS: &str = "No agents yet. pi-subagents agents add lists ready-made ones to copy, and pi-subagents agents create NAME makes your own.";

pub(crate) fn run(seen: &VisibleAgents, printer: Printer) -> ExitCode {
    let definitions = seen.catalogue().effective(Asker::Delegation);
    if printer.is_json() {
        printer.json(&listed(seen));
        return ExitCode::SUCCESS;
    }
    match (seen.door(), definitions.as_slice()) {
        (Door::CommandLine, definitions @ [_, ..]) => {
            let sheet = Sheet::of_stdout(&seen.places);
            let rows = definitions.iter().map(|definition| cells(definition));
            let lines = table(&COLUMNS, rows.collect(), sheet.columns());
            printer.painted(&sheet.text(&lines));
        }
        (Door::CommandLine, []) => printer.data(NO_AGENTS),
        (_, definitions) => printer.data(&listing(definitions)),
    }
    seen.print_notes(printer);
    ExitCode::SUCCESS
}

fn cells(definition: &Definition) -> Vec<Line> {
    let cell = |role, words: &str| Line::new(role, &text::one_line(&text::clean(words)));
    vec![
        cell(Role::Title, &definition.name),
        cell(Role::Muted, definition.dialect.as_str()),
        cell(Role::Plain, &model(definition)),
        cell(Role::Plain, &tools(definition)),
        cell(Role::Muted, scope(definition.scope)),
        cell(
            Role::Plain,
            &format!(
                "{}{}",
                text::cut_characters(&purpose(definition), LONGEST_WORDS),
                losses(definition)
            ),
        ),
    ]
}

/// Names the model, or its provider, and how much it thinks.
fn model(definition: &Definition) -> String {
    let name = match (&definition.provider, &definition.model) {
        (Some(provider), Some(model)) => format!("{provider}/{model}"),
        (Some(provider), None) => provider.clone(),
        (None, Some(model)) => model.clone(),
        (None, None) => String::new(),
    };
    match definition.thinking.map(ThinkingLevel::as_str) {
        Some(level) => format!("{name}:{level}"),
        None => name,
    }
}

/// Names the tools, where they are not those of every agent.
fn tools(definition: &Definition) -> String {
    match (&definition.tools, &definition.exclude_tools) {
        _ if definition.no_tools => "none".to_owned(),
        (Some(tools), _) => tools.join(","),
        (None, Some(excluded)) => format!("all but {}", excluded.join(",")),
        (None, None) => String::new(),
    }
}

fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Global => "",
        Scope::Project => "project",
    }
}

/// Returns the description, else how the system prompt begins.
fn purpose(definition: &Definition) -> String {
    let prompt = definition.body.as_ref();
    let prompt = prompt.or(definition.append_system_prompt.as_ref());
    match (&definition.description, prompt) {
        (Some(words), _) => words.clone(),
        (None, Some(prompt)) => format!("\"{}\"", text::one_line(prompt)),
        (None, None) => String::new(),
    }
}

/// Names what an agent of another tool cannot do here.
fn losses(definition: &Definition) -> String {
    let losses = definition.translation.iter().flat_map(Translation::losses);
    let losses: Vec<&str> = losses.map(|note| note.subject.as_str()).collect();
    if losses.is_empty() {
        return String::new();
    }
    format!("; lost: {}", losses.join(", "))
}
