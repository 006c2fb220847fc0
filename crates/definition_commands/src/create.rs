//! `profile create`: a new file.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_configuration::fits_name;
use pi_subagents_vocabulary::{Advice, Definition, Dialect, Scope};

use super::ask::{DialogEnd, Person};
use super::command::{ScopeName, dialect_parser};
use super::flags::FieldArgs;
use super::visible_agents::VisibleAgents;
use super::wizard;
use super::{ask, save, starter};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

#[derive(Args)]
pub(super) struct CreateArgs {
    /// Name of the agent: letters, digits, "-" and "_"
    name: String,
    /// Who can use the agent [default: global]
    #[arg(long, value_enum)]
    scope: Option<ScopeName>,
    /// Format of the file [default: profile]
    #[arg(long = "format", value_name = "FORMAT", value_parser = dialect_parser())]
    dialect: Option<Dialect>,
    /// Write a starter with comments that you change in your editor
    #[arg(long)]
    example: bool,
    #[command(flatten)]
    fields: FieldArgs,
}

pub(crate) fn run(
    args: &CreateArgs,
    seen: &VisibleAgents,
    person: &dyn Person,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    if !fits_name(&args.name) {
        return Err(CommandError::usage(format!(
            "the name \"{}\" may have only letters, digits, \"-\" and \"_\"",
            args.name
        )));
    }
    let scope = args.scope.map_or(Scope::Global, Scope::from);
    let dialect = args.dialect.unwrap_or_default();
    let mut definition = empty(&args.name, scope, dialect, seen);
    check_absent(&definition, seen)?;
    if args.example {
        return starter::write(&definition, &args.fields, seen, printer);
    } else if !args.fields.is_empty() {
        args.fields.apply(&mut definition, &seen.places)?;
    } else if ask::can_ask(person, printer) {
        match asked(args, definition, seen, person) {
            Ok(Some(finished)) => definition = finished,
            Ok(None) => return Ok(ask::nothing_written(printer)),
            Err(stopped) => return stopped.into_result(printer),
        }
    } else {
        return Err(CommandError::usage("there is nothing to save").hint(
            "Give at least one field, for example --model MODEL, or --example for a starter, or run it on a terminal.",
        ));
    }
    save::write(&definition)?;
    save::report("Created", &definition, seen, printer);
    Ok(ExitCode::SUCCESS)
}

/// Asks for all fields of a new definition. `None` if the person does not want to save it.
fn asked(
    args: &CreateArgs,
    mut definition: Definition,
    seen: &VisibleAgents,
    person: &dyn Person,
) -> Result<Option<Definition>, DialogEnd> {
    let mut numbers = wizard::StepNumbers::without_format();
    if args.dialect.is_none() {
        numbers = wizard::StepNumbers::with_format();
        wizard::begin(person, &mut numbers, &mut definition)?;
        definition = empty(&definition.name, definition.scope, definition.dialect, seen);
        check_absent(&definition, seen).map_err(DialogEnd::Failed)?;
    }
    wizard::walk(person, numbers, definition, seen)
}

fn empty(name: &str, scope: Scope, dialect: Dialect, seen: &VisibleAgents) -> Definition {
    let file = seen.folder_for(scope, dialect).join(format!("{name}.md"));
    Definition::new(name, dialect, scope, file)
}

/// Refuses to write over a file, or beside a definition of the same name.
pub(super) fn check_absent(
    definition: &Definition,
    seen: &VisibleAgents,
) -> Result<(), CommandError> {
    let name = &definition.name;
    let folder = definition.file.parent();
    let all = seen.all_named(name);
    let mut same = all
        .iter()
        .filter(|(other, _)| other.file.parent() == folder);
    if let Some((other, _)) = same.next() {
        let (kind, file) = (definition.dialect.title(), other.file.display());
        let error = CommandError::usage(format!("{kind} \"{name}\" already exists: {file}"));
        return Err(error.advise("", Advice::EditAgent(name.clone()), " changes it."));
    }
    if definition.file.symlink_metadata().is_ok() {
        let file = definition.file.display();
        return Err(CommandError::usage(format!("{file} already exists"))
            .hint("Choose another name, or look at that file first."));
    }
    Ok(())
}
