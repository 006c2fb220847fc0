//! The ten steps, in their order.

use std::fmt;
use std::io::Write as _;

use pi_subagents_delegation::{Definition, Dialect, Scope, ThinkingLevel, text};

use super::field::{Wish, line, wish};
use super::lists;
use crate::commands::profile::ask::{self, Stopped};
use crate::commands::profile::flags::filled;
use crate::commands::profile::seen::Seen;
use crate::commands::profile::{details, save};
use crate::error::CommandError;

const LEAVES_IT: &str = "Enter alone leaves it as it is.";

/// Asks about everything, beginning with what a definition says already; none is a no at the end.
pub(in crate::commands::profile) fn walk(
    mut definition: Definition,
    seen: &Seen,
) -> Result<Option<Definition>, Stopped> {
    scope("1/10", &mut definition, seen)?;
    description(&mut definition)?;
    line("2/10", "Provider", LEAVES_IT, &mut definition.provider)?;
    line("3/10", "Model", LEAVES_IT, &mut definition.model)?;
    system_prompt("4/10", &mut definition, seen)?;
    appended_text("5/10", &mut definition, seen)?;
    thinking("6/10", &mut definition)?;
    lists::tools("7/10", &mut definition)?;
    lists::extensions("8/10", &mut definition)?;
    lists::skills("9/10", &mut definition)?;
    review("10/10", definition, seen)
}

struct Home {
    scope: Scope,
    folder: String,
}

impl fmt::Display for Home {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.scope {
            Scope::Global => "Global",
            Scope::Project => "Project",
        };
        write!(formatter, "{name} ({}/)", self.folder)
    }
}

/// A definition that is given another scope becomes a second file; the first one stays.
fn scope(step: &str, definition: &mut Definition, seen: &Seen) -> Result<(), Stopped> {
    let folder = |scope| seen.folder_for(scope, definition.dialect);
    let homes = [Scope::Global, Scope::Project].map(|scope| Home {
        scope,
        folder: seen.short(&folder(scope)),
    });
    let cursor = homes.iter().position(|home| home.scope == definition.scope);
    let chosen = ask::choice(&format!("{step} Scope:"), homes.into(), cursor.unwrap_or(0))?;
    if let Some(home) = chosen.filter(|home| home.scope != definition.scope) {
        definition.file = folder(home.scope).join(format!("{}.md", definition.name));
        definition.scope = home.scope;
        definition.origins.clear();
    }
    Ok(())
}

/// Only a preset must have a description; the others are not asked for one.
fn description(definition: &mut Definition) -> Result<(), Stopped> {
    if definition.dialect == Dialect::Preset && definition.description.is_none() {
        let help = "A preset must say what it is good for.";
        line("1/10", "Description", help, &mut definition.description)?;
    }
    Ok(())
}

fn system_prompt(step: &str, definition: &mut Definition, seen: &Seen) -> Result<(), Stopped> {
    let current = definition
        .body
        .as_ref()
        .map(|body| format!("System prompt: {body}"));
    match wish(step, "Set a custom system prompt?", current.as_deref())? {
        Wish::Keep => {}
        Wish::Remove => definition.body = None,
        Wish::Set => edit_text(
            &format!("{step} System prompt:"),
            &mut definition.body,
            seen,
        )?,
    }
    Ok(())
}

fn appended_text(step: &str, definition: &mut Definition, seen: &Seen) -> Result<(), Stopped> {
    let field = &mut definition.append_system_prompt;
    let current = field.as_ref().map(|text| format!("Appended text: {text}"));
    let question = format!("{step} Appended text:");
    match wish(
        step,
        "Append text to the system prompt?",
        current.as_deref(),
    )? {
        Wish::Keep => {}
        Wish::Remove => *field = None,
        // A line cannot hold several.
        Wish::Set if field.as_ref().is_some_and(|text| text.contains('\n')) => {
            edit_text(&question, field, seen)?;
        }
        Wish::Set => {
            let initial = field.clone().unwrap_or_default();
            let answer = ask::line(&question, &initial, LEAVES_IT)?;
            *field = answer.as_deref().and_then(filled).or(field.take());
        }
    }
    Ok(())
}

fn edit_text(question: &str, field: &mut Option<String>, seen: &Seen) -> Result<(), Stopped> {
    let initial = field.clone().unwrap_or_default();
    let answer = ask::long_text(question, &initial, &seen.places)?;
    *field = answer.as_deref().and_then(filled).or(field.take());
    Ok(())
}

fn thinking(step: &str, definition: &mut Definition) -> Result<(), Stopped> {
    let current = definition
        .thinking
        .map(|level| format!("Thinking level: {}", level.as_str()));
    match wish(step, "Set a thinking level?", current.as_deref())? {
        Wish::Keep => {}
        Wish::Remove => definition.thinking = None,
        Wish::Set => {
            let levels = ThinkingLevel::ALL.map(ThinkingLevel::as_str);
            let is_current = |level: &ThinkingLevel| Some(*level) == definition.thinking;
            let cursor = ThinkingLevel::ALL.iter().position(is_current);
            let question = format!("{step} Thinking level:");
            let chosen = ask::choice(&question, levels.into(), cursor.unwrap_or(0))?;
            definition.thinking = chosen
                .and_then(ThinkingLevel::from_word)
                .or(definition.thinking);
        }
    }
    Ok(())
}

fn review(step: &str, definition: Definition, seen: &Seen) -> Result<Option<Definition>, Stopped> {
    save::check(&definition).map_err(Stopped::Failed)?;
    let page = details::page(&definition, &seen.short(&definition.file));
    show(&format!("\n{page}\n"))?;
    Ok(
        match ask::yes(
            &format!("{step} Save this {}?", definition.dialect.as_str()),
            true,
        )? {
            Some(true) => Some(definition),
            Some(false) | None => None,
        },
    )
}

/// The page belongs to the question, so it is shown where the question is, quiet or not.
fn show(page: &str) -> Result<(), Stopped> {
    writeln!(std::io::stderr(), "{}", text::clean(page)).map_err(|error| {
        Stopped::Failed(CommandError::failed("the terminal is gone").because(&error))
    })
}
