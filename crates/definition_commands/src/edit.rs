//! `profile edit`: changes the file of a definition.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_vocabulary::{Definition, Field};

use super::ask::Person;
use super::choose::{self, ChoiceArgs, Chosen};
use super::flags::FieldArgs;
use super::visible_agents::VisibleAgents;
use super::{ask, create, save, unset_fields, wizard};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

#[derive(Args)]
pub(super) struct EditArgs {
    #[command(flatten)]
    choice: ChoiceArgs,
    #[command(flatten)]
    fields: FieldArgs,
    /// Remove a field; may be given several times, or with several names separated by commas
    #[arg(long, value_name = "FIELD", value_parser = unset_fields::field, value_delimiter = ',')]
    unset: Vec<Field>,
}

pub(crate) fn run(
    args: &EditArgs,
    seen: &VisibleAgents,
    person: &dyn Person,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    let old = match choose::any(&args.choice, seen)? {
        Chosen::Definition(definition) => definition,
        Chosen::Broken(warning) => {
            return Err(
                CommandError::usage(warning.to_string()).hint("Fix the file by hand first.")
            );
        }
    };
    let mut new = old.clone();
    if !args.fields.is_empty() || !args.unset.is_empty() {
        for field in &args.unset {
            new.unset(*field);
        }
        args.fields.apply(&mut new, &seen.places)?;
    } else if ask::can_ask(person, printer) {
        let numbers = wizard::StepNumbers::without_format();
        match wizard::walk(person, numbers, new, seen) {
            Ok(Some(finished)) => new = finished,
            Ok(None) => return Ok(ask::nothing_written(printer)),
            Err(stopped) => return stopped.into_result(printer),
        }
    } else {
        return Err(CommandError::usage("there is nothing to change").hint(
            "Give at least one field, for example --model MODEL or --unset model, or run it on a terminal.",
        ));
    }
    write(old, &new, seen)?;
    save::report("Changed", &new, seen, printer);
    Ok(ExitCode::SUCCESS)
}

fn write(old: &Definition, new: &Definition, seen: &VisibleAgents) -> Result<(), CommandError> {
    if old.file != new.file {
        create::check_absent(new, seen)?;
    }
    save::write(new)
}
