//! Finds the definition that a name means.

use clap::Args;
use pi_subagents_configuration::{
    FoundDefinition, Ignored, IgnoredReason, UnknownDefinition, Warning,
};
use pi_subagents_vocabulary::{Definition, Dialect, Scope, nearest};

use super::command::{ScopeName, dialect_parser};
use super::visible_agents::VisibleAgents;
use pi_subagents_calls::families::{delegation, subagent};
use pi_subagents_ground::error::CommandError;

/// A name, and what narrows it down.
#[derive(Args)]
pub(super) struct ChoiceArgs {
    /// Name of the agent
    pub(super) name: String,
    /// If several agents have this name, use the one in this scope [default: the effective one]
    #[arg(long, value_enum)]
    scope: Option<ScopeName>,
    /// If several agents have this name, use the one in this format [default: the effective one]
    #[arg(long = "format", value_name = "FORMAT", value_parser = dialect_parser())]
    dialect: Option<Dialect>,
}

/// The result of looking up a name.
pub(super) enum Chosen<'a> {
    /// A definition.
    Definition(&'a Definition),
    /// A file of that name that cannot be used.
    Broken(&'a Warning),
}

/// Returns the definition of a name that `run` takes, or the error if there is none.
pub(super) fn for_run<'a>(
    name: &str,
    seen: &'a VisibleAgents,
) -> Result<FoundDefinition<'a>, CommandError> {
    let found = seen.catalogue().find(name, subagent::ASKER);
    found.or_else(|_| counting(name, seen))
}

/// Returns the definition of a name that `delegate` takes, or the error if there is none.
pub(super) fn counting<'a>(
    name: &str,
    seen: &'a VisibleAgents,
) -> Result<FoundDefinition<'a>, CommandError> {
    seen.catalogue()
        .find(name, delegation::ASKER)
        .map_err(|unknown| not_there(name, &unknown, seen))
}

/// Returns the definition to edit or delete. An ignored definition is allowed too: editing a file
/// obeys nothing in it.
pub(super) fn any<'a>(
    args: &ChoiceArgs,
    seen: &'a VisibleAgents,
) -> Result<Chosen<'a>, CommandError> {
    let all = seen.all_named(&args.name);
    let fitting = all.iter().find(|(definition, _)| args.fits(definition));
    match fitting {
        Some((definition, why)) => {
            let reason = why.map(|why| why.reason);
            if reason == Some(IgnoredReason::OutsideProject) {
                return Err(outside(definition));
            }
            if definition.dialect.is_foreign() {
                return Err(never_written(definition.dialect, &definition.name));
            }
            Ok(Chosen::Definition(definition))
        }
        None if all.is_empty() => nameless(&args.name, seen),
        None => Err(elsewhere(&args.name, &all)),
    }
}

/// Returns the unusable file of a name that has no definition, or the error if there is no file
/// either.
fn nameless<'a>(name: &str, seen: &'a VisibleAgents) -> Result<Chosen<'a>, CommandError> {
    if let Some(warning) = broken(name, seen) {
        return match warning.foreign {
            Some(dialect) => Err(never_written(dialect, name)),
            None => Ok(Chosen::Broken(warning)),
        };
    }
    counting(name, seen).map(|found| Chosen::Definition(found.definition))
}

impl ChoiceArgs {
    fn fits(&self, definition: &Definition) -> bool {
        let dialect = self.dialect;
        let scope = self.scope.map(Scope::from);
        scope.is_none_or(|scope| scope == definition.scope)
            && dialect.is_none_or(|dialect| dialect == definition.dialect)
    }
}

/// Makes the error for a file of another tool, which only its user and that tool may change.
fn never_written(dialect: Dialect, name: &str) -> CommandError {
    let product = dialect.foreign_files().map_or("", |files| files.product);
    CommandError::usage(format!(
        "\"{name}\" is an agent of {product}, whose files are never changed"
    ))
    .hint(format!(
        "Make a copy of your own with: pi-subagents agents import {}:{name}",
        dialect.as_str()
    ))
}

fn outside(definition: &Definition) -> CommandError {
    let file = definition.file.display();
    CommandError::usage(format!("{file} is a link to a file outside the project"))
        .hint("Edit the file that the link leads to.")
}

/// Makes the error for a name that exists only in other scopes or dialects.
fn elsewhere(name: &str, all: &[(&Definition, Option<&Ignored>)]) -> CommandError {
    let places: Vec<String> = all
        .iter()
        .map(|(one, _)| {
            let (scope, dialect) = (one.scope.as_str(), one.dialect.as_str());
            format!("{} ({scope} {dialect})", one.file.display())
        })
        .collect();
    CommandError::not_found(format!("there is no \"{name}\" with that scope and format"))
        .hint(format!("There is {}.", places.join(", ")))
}

/// Returns the warning about a file that should define the name but cannot be used.
fn broken<'a>(name: &str, seen: &'a VisibleAgents) -> Option<&'a Warning> {
    let mut warnings = seen.catalogue().warnings().iter();
    warnings.find(|warning| warning.keeps_out(name))
}

fn not_there(name: &str, unknown: &UnknownDefinition, seen: &VisibleAgents) -> CommandError {
    if let Some(warning) = broken(name, seen) {
        return CommandError::usage(warning.to_string());
    }
    let error = CommandError::not_found(unknown.to_string());
    let known = seen.catalogue().effective(delegation::ASKER);
    let meant = nearest(name, known.iter().map(|one| one.name.as_str()));
    let error = match meant {
        Some(meant) => error.hint(format!("Did you mean {meant}?")),
        None => error,
    };
    if unknown.ignored.is_empty() {
        return error;
    }
    let notices = seen.notices().into_iter();
    notices.fold(error, CommandError::hint)
}
