//! Saves a definition, and reports the outcome.

use pi_subagents_configuration::{Asker, SaveError, check_paths, save, validate};
use pi_subagents_vocabulary::{Definition, Scope};

use super::doubts::{ModelDoubts, tool_doubts};
use super::fields;
use super::results::{SavedResult, SeenBeside};
use super::visible_agents::VisibleAgents;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;

/// Checks a definition before anything is written.
pub(super) fn check(definition: &Definition) -> Result<(), CommandError> {
    let dialect = definition.dialect;
    if dialect.needs_description() && definition.description.is_none() {
        let message = format!("a {} needs a \"description\"", dialect.as_str());
        return Err(CommandError::usage(message).hint("Give it with --description TEXT."));
    }
    check_key(definition)?;
    validate(definition).map_err(|invalid| CommandError::usage(invalid.to_string()))
}

/// Refuses a key in a file of a project.
pub(super) fn check_key(definition: &Definition) -> Result<(), CommandError> {
    if definition.scope == Scope::Project && definition.api_key.is_some() {
        return Err(CommandError::usage(SaveError::KeyInProject.to_string())
            .hint("Use --scope global, or keep the key in your own settings."));
    }
    Ok(())
}

/// Checks and saves a definition.
pub(super) fn write(definition: &Definition) -> Result<(), CommandError> {
    check(definition)?;
    save(definition).map_err(|error| match error {
        SaveError::KeyInProject
        | SaveError::Name(_)
        | SaveError::Broken { .. }
        | SaveError::Unfaithful(_) => CommandError::usage(error.to_string()),
        SaveError::Write { ref source, .. } => {
            CommandError::failed(error.to_string()).because(source)
        }
    })
}

/// Prints that a definition was saved, with everything its author should know about it.
pub(super) fn report(verb: &str, definition: &Definition, seen: &VisibleAgents, printer: Printer) {
    let seen = seen.again();
    let mut warnings = seen.warnings();
    warnings.extend(concerns(definition, &seen));
    if printer.is_json() {
        printer.json(&SavedResult {
            done: verb.to_lowercase(),
            agent: fields::printed(definition),
            seen: SeenBeside {
                warnings,
                ..seen.beside()
            },
        });
        return;
    }
    let (dialect, name) = (definition.dialect.as_str(), &definition.name);
    printer.data(&format!(
        "{verb} {dialect} {name}: {}",
        definition.file.display()
    ));
    for warning in warnings {
        printer.note(&format!("warning: {warning}"));
    }
    for notice in seen.notices() {
        printer.note(&notice);
    }
}

/// Lists the problems that the definition would have when it is used.
fn concerns(definition: &Definition, seen: &VisibleAgents) -> Vec<String> {
    let counting = seen.catalogue().find(&definition.name, Asker::Delegation);
    let other = counting
        .ok()
        .filter(|found| found.definition.file != definition.file)
        .map(|found| format!("{} is used instead", found.definition.file.display()));
    let skills = seen.skills().resolve(definition).err();
    let paths = check_paths(definition, &seen.places.cwd, &seen.places.home).err();
    not_read(definition, seen)
        .into_iter()
        .chain(other)
        .chain(skills.map(|error| error.to_string()))
        .chain(paths.map(|invalid| invalid.to_string()))
        .chain(tool_doubts(definition, seen))
        .chain(ModelDoubts::of(seen).about(definition))
        .collect()
}

/// Warns of a definition that is not found from the current directory.
fn not_read(definition: &Definition, seen: &VisibleAgents) -> Option<String> {
    let all = seen.all_named(&definition.name);
    if all.iter().any(|(one, _)| one.file == definition.file) {
        return None;
    }
    let (file, cwd) = (definition.file.display(), &seen.places.cwd);
    let why = if seen.places.own_directories(cwd).is_empty() {
        ", which is not a project"
    } else {
        ""
    };
    Some(format!("{file} is not read in {}{why}", cwd.display()))
}
