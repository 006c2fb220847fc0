//! Which definition a name means.

use clap::Args;
use pi_subagents_definitions::{Asker, Found, Ignored, IgnoredReason, UnknownDefinition, Warning};
use pi_subagents_delegation::{Definition, Dialect, Scope};

use super::command::{DialectName, ScopeName};
use super::seen::Seen;
use crate::error::CommandError;

/// A name, and what narrows it down.
#[derive(Args)]
pub(super) struct ChoiceArgs {
    /// Name of the definition
    pub(super) name: String,
    /// If several definitions have this name, use the one in this scope [default: the effective one]
    #[arg(long, value_enum)]
    scope: Option<ScopeName>,
    /// If several definitions have this name, use the one in this format [default: the effective one]
    #[arg(long, value_enum)]
    dialect: Option<DialectName>,
}

/// What a name leads to.
pub(super) enum Chosen<'a> {
    /// A definition.
    Definition(&'a Definition),
    /// A file that is called so and cannot be used.
    Broken(&'a Warning),
}

/// The definition that counts, or what to say when there is none.
pub(super) fn counting<'a>(name: &str, seen: &'a Seen) -> Result<Found<'a>, CommandError> {
    seen.catalogue()
        .find(name, Asker::Delegation)
        .map_err(|unknown| not_there(name, &unknown, seen))
}

/// What is to be changed or deleted, wherever it lies: nothing is obeyed by that, so what is
/// ignored may be chosen too.
pub(super) fn any<'a>(args: &ChoiceArgs, seen: &'a Seen) -> Result<Chosen<'a>, CommandError> {
    let all = seen.all_named(&args.name);
    let fitting = all.iter().find(|(definition, _)| args.fits(definition));
    match fitting {
        Some((definition, why)) => {
            let reason = why.map(|why| why.reason);
            if reason == Some(IgnoredReason::OutsideProject) {
                return Err(outside(definition));
            }
            Ok(Chosen::Definition(definition))
        }
        None if all.is_empty() => nameless(&args.name, seen),
        None => Err(elsewhere(&args.name, &all)),
    }
}

/// There is no definition of the name, but there may be a file.
fn nameless<'a>(name: &str, seen: &'a Seen) -> Result<Chosen<'a>, CommandError> {
    if let Some(warning) = broken(name, seen) {
        return Ok(Chosen::Broken(warning));
    }
    counting(name, seen).map(|found| Chosen::Definition(found.definition))
}

impl ChoiceArgs {
    fn fits(&self, definition: &Definition) -> bool {
        let dialect = self.dialect.map(Dialect::from);
        let scope = self.scope.map(Scope::from);
        scope.is_none_or(|scope| scope == definition.scope)
            && dialect.is_none_or(|dialect| dialect == definition.dialect)
    }
}

fn outside(definition: &Definition) -> CommandError {
    let file = definition.file.display();
    CommandError::usage(format!("{file} leads out of the project"))
        .hint("Change it where it really lies.")
}

/// The definition is there, but not where it was looked for.
fn elsewhere(name: &str, all: &[(&Definition, Option<&Ignored>)]) -> CommandError {
    let places: Vec<String> = all
        .iter()
        .map(|(one, _)| {
            let (scope, dialect) = (one.scope.as_str(), one.dialect.as_str());
            format!("{} ({scope} {dialect})", one.file.display())
        })
        .collect();
    CommandError::not_found(format!("no \"{name}\" of that scope and dialect"))
        .hint(format!("There is {}.", places.join(", ")))
}

/// A file that should hold the definition and cannot be used.
fn broken<'a>(name: &str, seen: &'a Seen) -> Option<&'a Warning> {
    let mut warnings = seen.catalogue().warnings().iter();
    warnings.find(|warning| warning.keeps_out(name))
}

fn not_there(name: &str, unknown: &UnknownDefinition, seen: &Seen) -> CommandError {
    if let Some(warning) = broken(name, seen) {
        return CommandError::usage(warning.to_string());
    }
    let error = CommandError::not_found(unknown.to_string());
    if unknown.ignored.is_empty() {
        return error;
    }
    let notices = seen.notices().into_iter();
    notices.fold(error, CommandError::hint)
}
