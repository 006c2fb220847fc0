//! `agents import`: copies agents of other tools as profiles of the user's own. The files of the
//! other tools stay as they are.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_agent::{AskedModel, ModelCatalogue, Surroundings};
use pi_subagents_calls::ForeignModel;
use pi_subagents_configuration::{
    Explanation, ForeignAgent, body_bytes, fits_name, foreign_agents, import_text,
};
use pi_subagents_files::{Audience, replace};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_vocabulary::{Definition, Dialect, Scope, Translation, text};

use super::command::ScopeName;
use super::create::check_absent;
use super::explain;
use super::results::{ImportResult, ImportedAgent};
use super::visible_agents::VisibleAgents;

#[derive(Args)]
pub(super) struct ImportArgs {
    /// Agents to copy, each as TOOL:NAME, such as claude:reviewer
    #[arg(value_name = "TOOL:NAME", required_unless_present = "all")]
    names: Vec<String>,
    /// Copy every agent of other tools that can be used and whose name is free
    #[arg(long, conflicts_with_all = ["names", "new_name"])]
    all: bool,
    /// Name of the copy [default: the name of the agent]
    #[arg(long = "as", value_name = "NAME")]
    new_name: Option<String>,
    /// Scope of the copies [default: global]
    #[arg(long, value_enum)]
    scope: Option<ScopeName>,
    /// Leave out a key that keeps the file from being used, such as hooks. The copy is then less
    /// restricted than the original. May be given several times
    #[arg(long, value_name = "KEY")]
    drop: Vec<String>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// A copy that can be written.
struct PlannedImport {
    original: Definition,
    copy: Definition,
    text: String,
}

/// Copies agents of other tools, all or none of them.
pub(super) fn run(
    args: &ImportArgs,
    seen: &VisibleAgents,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    if args.new_name.is_some() && args.names.len() > 1 {
        return Err(
            CommandError::usage("--as names one copy, and there are several agents")
                .hint("Import them one by one."),
        );
    }
    let agents = foreign_agents(&seen.definition_places(), seen.trust(), &args.drop);
    let planned = if args.all {
        every(&agents, args, seen)
    } else {
        let names = args.names.iter();
        names
            .map(|name| planned(found(name, &agents, seen)?, args, seen))
            .collect::<Result<_, _>>()?
    };
    if planned.is_empty() {
        return Err(CommandError::not_found("there is nothing to import").hint(
            "pi-subagents agents list shows the agents of other tools that are found here.",
        ));
    }
    if !args.dry_run {
        for one in &planned {
            write(one)?;
        }
    }
    report(&planned, args, seen, printer);
    Ok(ExitCode::SUCCESS)
}

fn every(agents: &[ForeignAgent], args: &ImportArgs, seen: &VisibleAgents) -> Vec<PlannedImport> {
    let mut planned_copies: Vec<PlannedImport> = Vec::new();
    for agent in agents {
        let is_planned = |name: &str| planned_copies.iter().any(|one| one.copy.name == name);
        let is_new = agent
            .definition
            .as_ref()
            .is_ok_and(|one| !is_planned(&one.name));
        if let Some(one) = is_new.then(|| planned(agent, args, seen).ok()).flatten() {
            planned_copies.push(one);
        }
    }
    planned_copies
}

/// Finds the agent that `TOOL:NAME` means.
fn found<'a>(
    name: &str,
    agents: &'a [ForeignAgent],
    seen: &VisibleAgents,
) -> Result<&'a ForeignAgent, CommandError> {
    let Some((dialect, wanted)) = name
        .split_once(':')
        .and_then(|(tool, name)| Some((Dialect::from_word(tool)?, name)))
    else {
        let tools = Dialect::FOREIGN.map(Dialect::as_str).join(", ");
        return Err(
            CommandError::usage(format!("\"{name}\" does not name a tool and an agent")).hint(
                format!("Write it as claude:reviewer. The tools are {tools}."),
            ),
        );
    };
    let is_meant = |agent: &&ForeignAgent| {
        agent.dialect == dialect
            && match &agent.definition {
                Ok(definition) => definition.is_called(wanted),
                Err(problem) => problem.name.as_deref() == Some(wanted),
            }
    };
    agents.iter().find(is_meant).ok_or_else(|| {
        let error = CommandError::not_found(format!("there is no agent {name}"));
        let notices = seen.notices().into_iter();
        notices.fold(error, CommandError::hint)
    })
}

fn planned(
    agent: &ForeignAgent,
    args: &ImportArgs,
    seen: &VisibleAgents,
) -> Result<PlannedImport, CommandError> {
    let original = match &agent.definition {
        Ok(definition) => definition.clone(),
        Err(problem) => {
            let place = problem.place(&agent.file);
            return Err(CommandError::usage(format!("{place}: {}", problem.message)).hint(
                "A copy without that restriction could do more than its author allowed. If you want that, name the key: --drop KEY.",
            ));
        }
    };
    let name = args
        .new_name
        .clone()
        .unwrap_or_else(|| original.name.clone());
    if !fits_name(&name) {
        return Err(CommandError::usage(format!(
            "the name \"{name}\" may have only letters, digits, \"-\" and \"_\""
        )));
    }
    let scope = args.scope.map_or(Scope::Global, Scope::from);
    let file = seen
        .folder_for(scope, Dialect::Profile)
        .join(format!("{name}.md"));
    let copy = copy_of(&original, name, scope, file, seen);
    check_absent(&copy, seen)?;
    let body = match original.body {
        Some(_) => {
            body_bytes(&original.file).map_err(|problem| CommandError::failed(problem.message))?
        }
        None => String::new(),
    };
    let text = import_text(&copy, &comments(&original, &args.drop), &body)
        .map_err(|error| CommandError::failed(error.to_string()))?;
    Ok(PlannedImport {
        original,
        copy,
        text,
    })
}

/// Returns the profile that does the same as an agent of another tool, as far as it can.
fn copy_of(
    original: &Definition,
    name: String,
    scope: Scope,
    file: PathBuf,
    seen: &VisibleAgents,
) -> Definition {
    let mut copy = Definition {
        name,
        dialect: Dialect::Profile,
        scope,
        file,
        translation: None,
        model: model_of_copy(original, seen),
        ..original.clone()
    };
    copy.origins.clear();
    copy
}

/// Returns the model of a copy: the name in the file if a profile understands it too.
fn model_of_copy(original: &Definition, seen: &VisibleAgents) -> Option<String> {
    let models = ModelCatalogue::read(Surroundings::from(&seen.places));
    let aliases = &seen.configuration().settings.model_aliases;
    let is_understood = |model: &str| {
        let asked = AskedModel {
            provider: None,
            model: Some(model),
        };
        models.check(asked).is_ok()
    };
    match ForeignModel::of(original, aliases, &models) {
        ForeignModel::Inherited(_) => None,
        ForeignModel::Named(model, _) => {
            let written = original.model.clone();
            let is_alias = aliases.values().any(|alias| *alias == model);
            written
                .filter(|written| !is_alias && is_understood(written))
                .or(Some(model))
        }
        ForeignModel::Missing => original.model.clone(),
    }
}

/// Returns the comments of a copy: its origin, and what it lost on the way.
fn comments(original: &Definition, dropped: &[String]) -> Vec<String> {
    let product = original
        .dialect
        .foreign_files()
        .map_or("", |files| files.product);
    let file = original.file.file_name().unwrap_or_default();
    let mut comments = vec![format!("from {} of {product}", file.to_string_lossy())];
    let losses = original.translation.iter().flat_map(Translation::losses);
    let lost: Vec<&str> = losses.map(|note| note.subject.as_str()).collect();
    if !lost.is_empty() {
        comments.push(format!("lost: {}", lost.join(", ")));
    }
    if !dropped.is_empty() {
        comments.push(format!("dropped by hand: {}", dropped.join(", ")));
    }
    let comments = comments
        .iter()
        .map(|line| text::one_line(&text::clean(line)));
    comments.collect()
}

fn write(planned: &PlannedImport) -> Result<(), CommandError> {
    let file = &planned.copy.file;
    let written = file
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| replace(file, planned.text.as_bytes(), Audience::Ordinary));
    written.map_err(|error| {
        CommandError::failed(format!("{} cannot be written", file.display())).because(&error)
    })
}

fn report(planned: &[PlannedImport], args: &ImportArgs, seen: &VisibleAgents, printer: Printer) {
    if printer.is_json() {
        let agents = planned.iter().map(|one| ImportedAgent {
            name: one.copy.name.clone(),
            from: one.original.file.clone(),
            file: one.copy.file.clone(),
            is_written: !args.dry_run,
            text: one.text.clone(),
        });
        return printer.json(&ImportResult {
            agents: agents.collect(),
        });
    }
    for one in planned {
        let explanation = Explanation::of(&one.original, seen.skills());
        printer.data(&explain::page(&explanation, &one.original, seen));
        let file = seen.short(&one.copy.file);
        printer.data(&if args.dry_run {
            format!("\nWould write {file}:\n\n{}", one.text)
        } else {
            format!("\nImported {}: {file}\n", one.copy.name)
        });
    }
    if let ([first, ..], false) = (planned, args.dry_run) {
        let name = &first.copy.name;
        printer.note(&format!("Try it:  pi-subagents run {name} \"PROMPT\""));
    }
}
