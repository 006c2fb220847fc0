//! Which definition a name means.

use std::path::PathBuf;

use clap::Args;
use pi_subagents_definitions::{
    Asker, Found, IgnoredReason, UnknownDefinition, Verdict, Warning,
};
use pi_subagents_delegation::{Definition, Dialect, Scope};

use super::command::{DialectName, ScopeName};
use super::seen::Seen;
use crate::error::CommandError;

/// A name, and what narrows it down.
#[derive(Args)]
pub(super) struct ChoiceArgs {
    /// The name of the definition
    pub(super) name: String,
    /// Of several with this name, the one of this scope [default: the one that counts]
    #[arg(long, value_enum)]
    scope: Option<ScopeName>,
    /// Of several with this name, the one of this dialect [default: the one that counts]
    #[arg(long, value_enum)]
    dialect: Option<DialectName>,
}

/// What a name leads to.
pub(super) enum Chosen<'a> {
    /// A definition.
    Definition(&'a Definition),
    /// A file that is called so and cannot be used.
    Broken(PathBuf),
}

/// The definition that counts, or what to say when there is none.
pub(super) fn counting<'a>(name: &str, seen: &'a Seen) -> Result<Found<'a>, CommandError> {
    seen.catalogue
        .find(name, Asker::Delegation)
        .map_err(|unknown| not_there(name, &unknown, seen))
}

/// What is to be changed or deleted, wherever it lies: nothing is obeyed by that, so what is
/// ignored may be chosen too.
pub(super) fn any<'a>(args: &ChoiceArgs, seen: &'a Seen) -> Result<Chosen<'a>, CommandError> {
    let found = seen.catalogue.find(&args.name, Asker::Delegation);
    let usable = found
        .iter()
        .flat_map(|found| std::iter::once(found.definition).chain(found.shadowed.iter().copied()));
    let ignored = seen
        .catalogue
        .ignored()
        .filter(|(definition, _)| definition.name == args.name);
    let fits = |definition: &&Definition| args.fits(definition);
    let mut fitting = usable
        .chain(ignored.clone().map(|(definition, _)| definition))
        .filter(fits);
    if let Some(definition) = fitting.next() {
        let is_outside = ignored.clone().any(|(other, why)| {
            other.file == definition.file && why.reason == IgnoredReason::OutsideProject
        });
        if is_outside {
            return Err(CommandError::usage(format!(
                "{} leads out of the project",
                definition.file.display()
            ))
            .hint("Change it where it really lies."));
        }
        return Ok(Chosen::Definition(definition));
    }
    match found {
        Ok(found) => Err(elsewhere(args, &found)),
        Err(unknown) => broken(&args.name, seen)
            .map(|warning| Chosen::Broken(warning.file.clone()))
            .ok_or_else(|| not_there(&args.name, &unknown, seen)),
    }
}

impl ChoiceArgs {
    pub(super) fn scope(&self) -> Option<Scope> {
        self.scope.map(Scope::from)
    }

    fn fits(&self, definition: &Definition) -> bool {
        let dialect = self.dialect.map(Dialect::from);
        self.scope().is_none_or(|scope| scope == definition.scope)
            && dialect.is_none_or(|dialect| dialect == definition.dialect)
    }
}

/// The definition is there, but not where it was looked for.
fn elsewhere(args: &ChoiceArgs, found: &Found<'_>) -> CommandError {
    let all = std::iter::once(found.definition).chain(found.shadowed.iter().copied());
    let places: Vec<String> = all
        .map(|one| {
            let (scope, dialect) = (one.scope.as_str(), one.dialect.as_str());
            format!("{scope} {dialect} {}", one.file.display())
        })
        .collect();
    CommandError::not_found(format!("no \"{}\" of that scope and dialect", args.name))
        .hint(format!("There is: {}", places.join(", ")))
}

/// A file that should hold the definition and cannot be used.
pub(super) fn broken<'a>(name: &str, seen: &'a Seen) -> Option<&'a Warning> {
    seen.catalogue.warnings().iter().find(|warning| {
        let is_called_so = warning.file.file_stem().is_some_and(|stem| stem == name);
        is_called_so && warning.verdict == Verdict::Skipped
    })
}

fn not_there(name: &str, unknown: &UnknownDefinition, seen: &Seen) -> CommandError {
    if let Some(warning) = broken(name, seen) {
        return CommandError::usage(warning.to_string());
    }
    let error = CommandError::not_found(unknown.to_string());
    if unknown.ignored.is_empty() {
        return error;
    }
    let notices = seen.catalogue.notices().into_iter();
    notices.fold(error, CommandError::hint)
}
