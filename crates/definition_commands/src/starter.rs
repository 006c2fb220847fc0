//! `profile create --example`: a starter with comments, which its author changes in an editor.

use std::fs;
use std::process::ExitCode;

use pi_subagents_files::{Audience, replace};
use pi_subagents_vocabulary::{Definition, Field};

use super::flags::FieldArgs;
use super::save;
use super::visible_agents::VisibleAgents;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

const TEMPLATE: &str = include_str!("starter.md");

/// Writes the starter to the file of a definition that does not exist yet.
pub(super) fn write(
    definition: &Definition,
    fields: &FieldArgs,
    seen: &VisibleAgents,
    printer: Printer,
) -> Result<ExitCode, CommandError> {
    if !fields.is_empty() {
        return Err(
            CommandError::usage("--example takes no fields").hint(format!(
                "Write the starter first, then change it: pi-subagents agents edit {} --model MODEL",
                definition.name
            )),
        );
    }
    let file = &definition.file;
    let written = file
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| replace(file, content(definition).as_bytes(), Audience::Ordinary));
    written.map_err(|error| {
        CommandError::failed(format!("{} cannot be written", file.display())).because(&error)
    })?;
    let after = seen.again();
    let read = after.all_named(&definition.name);
    let read = read.iter().find(|(other, _)| other.file == *file);
    let read = read.map_or(definition, |(read, _)| read);
    save::report("Created", read, seen, printer);
    printer.note(&format!(
        "\nChange it in your editor, then try it:  pi-subagents run {} \"Review the last commit\"",
        definition.name
    ));
    Ok(ExitCode::SUCCESS)
}

/// Returns the starter in the words of a dialect.
fn content(definition: &Definition) -> String {
    let kind = definition.dialect.our_files();
    TEMPLATE
        .replace("KIND", kind.map_or("", |files| files.starter))
        .replace("THINKING", definition.key(Field::Thinking))
        .replace("TOOLS", definition.key(Field::Tools))
        .replace("NAME", &definition.name)
}
