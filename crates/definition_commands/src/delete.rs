//! `profile delete`: deletes the file of a definition, after a question.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_configuration::{Asker, delete};

use super::ask;
use super::ask::Person;
use super::choose::{self, ChoiceArgs, Chosen};
use super::results::{DeletedAgent, DeletedResult};
use super::visible_agents::VisibleAgents;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

#[derive(Args)]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    choice: ChoiceArgs,
    /// Delete without asking
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(
    args: &DeleteArgs,
    seen: &VisibleAgents,
    person: &dyn Person,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let (title, file) = chosen(&args.choice, seen)?;
    if !args.yes {
        if !ask::can_ask(person, printer) {
            return Err(CommandError::usage(format!(
                "refusing to delete {title} without confirmation"
            ))
            .hint("Add --yes."));
        }
        let question = format!("Delete {title} ({})?", seen.short(&file));
        match person.yes(&question, false) {
            Ok(Some(true)) => {}
            Ok(Some(false) | None) => {
                printer.note("Nothing was deleted.");
                return Ok(ExitCode::SUCCESS);
            }
            Err(stopped) => return stopped.into_result(printer),
        }
    }
    delete(&file)
        .map_err(|error| CommandError::failed("could not delete the file").because(&error))?;
    report(&args.choice.name, &title, &file, seen, printer);
    Ok(ExitCode::SUCCESS)
}

fn chosen(choice: &ChoiceArgs, seen: &VisibleAgents) -> Result<(String, PathBuf), CommandError> {
    Ok(match choose::any(choice, seen)? {
        Chosen::Definition(definition) => (
            format!("{} \"{}\"", definition.dialect.as_str(), definition.name),
            definition.file.clone(),
        ),
        Chosen::Broken(warning) => (
            format!("the broken agent file \"{}\"", choice.name),
            warning.file.clone(),
        ),
    })
}

fn report(name: &str, title: &str, file: &std::path::Path, seen: &VisibleAgents, printer: Printer) {
    let seen = seen.again();
    let next = seen.catalogue().find(name, Asker::Delegation).ok();
    let next = next.map(|found| &found.definition.file);
    if printer.is_json() {
        printer.json(&DeletedResult {
            done: "deleted",
            agent: DeletedAgent::new(name, file),
            counts_now: next.cloned(),
            seen: seen.beside(),
        });
        return;
    }
    printer.data(&format!("Deleted {title}: {}", file.display()));
    if let Some(next) = next {
        printer.note(&format!("{} is used for this name now.", next.display()));
    }
}
