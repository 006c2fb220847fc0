//! `agents add`: copies ready-made agents into a folder of agents.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_files::{Audience, replace};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_view::{Column, Line, Role, table};
use pi_subagents_vocabulary::{Definition, Dialect, Scope};

use super::command::ScopeName;
use super::create::check_absent;
use super::ready_made::{READY_MADE, ReadyMade};
use super::results::{AddedResult, ReadyMadeAgent};
use super::visible_agents::VisibleAgents;

/// The columns of the list.
const COLUMNS: [Column; 2] = [
    Column::whole("NAME", 0),
    Column::words("DESCRIPTION", 0, 24, usize::MAX),
];

#[derive(Args)]
pub(super) struct AddArgs {
    /// Names of ready-made agents [default: list them]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Scope of the copies [default: global]
    #[arg(long, value_enum)]
    scope: Option<ScopeName>,
}

/// Copies the agents, all or none of them, or lists the ready-made ones.
pub(super) fn run(
    args: &AddArgs,
    seen: &VisibleAgents,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    if args.names.is_empty() {
        list(seen, printer);
        return Ok(ExitCode::SUCCESS);
    }
    let scope = args.scope.map_or(Scope::Global, Scope::from);
    let wanted = args.names.iter().map(|name| wanted(name, scope, seen));
    let wanted: Vec<PlannedCopy> = wanted.collect::<Result<_, _>>()?;
    for copy in &wanted {
        copy.write()?;
    }
    if printer.is_json() {
        let agents = wanted.iter().map(|copy| ReadyMadeAgent {
            name: copy.agent.name,
            description: copy.agent.description(),
            file: Some(copy.definition.file.clone()),
        });
        printer.json(&AddedResult {
            agents: agents.collect(),
        });
        return Ok(ExitCode::SUCCESS);
    }
    for copy in &wanted {
        let file = seen.short(&copy.definition.file);
        printer.data(&format!("Added {}: {file}", copy.agent.name));
    }
    if let [first, ..] = &wanted[..] {
        printer.note(&format!(
            "\nTry it:  pi-subagents run {} \"PROMPT\"",
            first.agent.name
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// A ready-made agent that is not there yet, with the file that it would have.
pub struct ReadyMadeCopy {
    pub name: &'static str,
    pub file: PathBuf,
    /// The whole file.
    pub text: &'static str,
}

/// Returns the ready-made agents that could be copied for all projects.
pub fn ready_made_copies(seen: &VisibleAgents) -> Vec<ReadyMadeCopy> {
    let free = READY_MADE
        .iter()
        .filter_map(|agent| wanted(agent.name, Scope::Global, seen).ok());
    free.map(|copy| ReadyMadeCopy {
        name: copy.agent.name,
        file: copy.definition.file,
        text: copy.agent.text,
    })
    .collect()
}

/// A ready-made agent that is to be copied to a file.
struct PlannedCopy {
    agent: &'static ReadyMade,
    definition: Definition,
}

impl PlannedCopy {
    fn write(&self) -> Result<(), CommandError> {
        let file = &self.definition.file;
        let written = file
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| replace(file, self.agent.text.as_bytes(), Audience::Ordinary));
        written.map_err(|error| {
            CommandError::failed(format!("{} cannot be written", file.display())).because(&error)
        })
    }
}

/// Finds a ready-made agent, and checks that its file can be made.
fn wanted(name: &str, scope: Scope, seen: &VisibleAgents) -> Result<PlannedCopy, CommandError> {
    let agent = ReadyMade::find(name).map_err(|meant| {
        let error = CommandError::not_found(format!("there is no ready-made agent \"{name}\""));
        match meant {
            Some(meant) => error.hint(format!("Did you mean \"{meant}\"?")),
            None => error.hint("pi-subagents agents add lists them."),
        }
    })?;
    let file = seen
        .folder_for(scope, Dialect::Profile)
        .join(format!("{name}.md"));
    let definition = Definition::new(name, Dialect::Profile, scope, file);
    check_absent(&definition, seen)?;
    Ok(PlannedCopy { agent, definition })
}

fn list(seen: &VisibleAgents, printer: Printer) {
    if printer.is_json() {
        let agents = READY_MADE.iter().map(|agent| ReadyMadeAgent {
            name: agent.name,
            description: agent.description(),
            file: None,
        });
        printer.json(&AddedResult {
            agents: agents.collect(),
        });
        return;
    }
    let sheet = Sheet::of_stdout(&seen.places);
    let rows = READY_MADE.iter().map(|agent| {
        vec![
            Line::new(Role::Plain, agent.name),
            Line::new(Role::Muted, agent.description()),
        ]
    });
    let lines = table(&COLUMNS, rows.collect(), sheet.columns());
    printer.painted(&sheet.text(&lines));
    printer.note("\nCopy one:  pi-subagents agents add reviewer");
}
