//! The ten steps, in their order.

use std::fmt;

use pi_subagents_delegation::{Definition, Dialect, Scope, ThinkingLevel};

use super::field::{Wish, line, wish};
use super::lists;
use super::skipping::Skipping;
use crate::profiles::ask::{Person, Stopped};
use crate::profiles::flags::filled;
use crate::profiles::seen::Seen;
use crate::profiles::{details, save};

const LEAVES_IT: &str = "Enter alone keeps the current value.";

/// Asks about everything, beginning with what a definition says already. A question that is
/// cancelled leaves its field as it is, two in a row end the wizard; none is a no at the end, where
/// cancelling is one too.
pub(crate) fn walk(
    at_review: &dyn Person,
    mut definition: Definition,
    seen: &Seen,
) -> Result<Option<Definition>, Stopped> {
    let person: &dyn Person = &Skipping::new(at_review);
    scope(person, "1/10", &mut definition, seen)?;
    description(person, &mut definition)?;
    line(
        person,
        "2/10",
        "Provider",
        LEAVES_IT,
        &mut definition.provider,
    )?;
    line(person, "3/10", "Model", LEAVES_IT, &mut definition.model)?;
    system_prompt(person, "4/10", &mut definition)?;
    appended_text(person, "5/10", &mut definition)?;
    thinking(person, "6/10", &mut definition)?;
    lists::tools(person, "7/10", &mut definition)?;
    lists::extensions(person, "8/10", &mut definition)?;
    lists::skills(person, "9/10", &mut definition)?;
    review(at_review, "10/10", definition, seen)
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

/// Asks for the scope. A definition that gets another scope becomes a second file; the first one
/// stays.
fn scope(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
    seen: &Seen,
) -> Result<(), Stopped> {
    let folder = |scope| seen.folder_for(scope, definition.dialect);
    let homes = [Scope::Global, Scope::Project].map(|scope| Home {
        scope,
        folder: seen.short(&folder(scope)),
    });
    let cursor = homes.iter().position(|home| home.scope == definition.scope);
    let chosen = person.choice(&format!("{step} Scope:"), homes.into(), cursor.unwrap_or(0))?;
    if let Some(home) = chosen.filter(|home| home.scope != definition.scope) {
        definition.file = folder(home.scope).join(format!("{}.md", definition.name));
        definition.scope = home.scope;
        definition.origins.clear();
    }
    Ok(())
}

/// Asks for the description of a preset. Other dialects need none.
fn description(person: &dyn Person, definition: &mut Definition) -> Result<(), Stopped> {
    if definition.dialect == Dialect::Preset && definition.description.is_none() {
        let help = "A preset needs a description of what it is good for.";
        line(
            person,
            "1/10",
            "Description",
            help,
            &mut definition.description,
        )?;
    }
    Ok(())
}

fn system_prompt(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
) -> Result<(), Stopped> {
    let current = definition
        .body
        .as_ref()
        .map(|body| format!("System prompt: {body}"));
    match wish(
        person,
        step,
        "Set a custom system prompt?",
        current.as_deref(),
    )? {
        Wish::Keep => {}
        Wish::Remove => definition.body = None,
        Wish::Set => edit_text(
            person,
            &format!("{step} System prompt:"),
            &mut definition.body,
        )?,
    }
    Ok(())
}

fn appended_text(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
) -> Result<(), Stopped> {
    let field = &mut definition.append_system_prompt;
    let current = field.as_ref().map(|text| format!("Appended text: {text}"));
    let question = format!("{step} Appended text:");
    match wish(
        person,
        step,
        "Append text to the system prompt?",
        current.as_deref(),
    )? {
        Wish::Keep => {}
        Wish::Remove => *field = None,
        // A line cannot hold several.
        Wish::Set if field.as_ref().is_some_and(|text| text.contains('\n')) => {
            edit_text(person, &question, field)?;
        }
        Wish::Set => {
            let initial = field.clone().unwrap_or_default();
            let answer = person.line(&question, &initial, LEAVES_IT)?;
            *field = answer.as_deref().and_then(filled).or(field.take());
        }
    }
    Ok(())
}

fn edit_text(
    person: &dyn Person,
    question: &str,
    field: &mut Option<String>,
) -> Result<(), Stopped> {
    let initial = field.clone().unwrap_or_default();
    let answer = person.long_text(question, &initial)?;
    *field = answer.as_deref().and_then(filled).or(field.take());
    Ok(())
}

fn thinking(person: &dyn Person, step: &str, definition: &mut Definition) -> Result<(), Stopped> {
    let current = definition
        .thinking
        .map(|level| format!("Thinking level: {}", level.as_str()));
    match wish(person, step, "Set a thinking level?", current.as_deref())? {
        Wish::Keep => {}
        Wish::Remove => definition.thinking = None,
        Wish::Set => {
            let levels = ThinkingLevel::ALL.map(ThinkingLevel::as_str);
            let is_current = |level: &ThinkingLevel| Some(*level) == definition.thinking;
            let cursor = ThinkingLevel::ALL.iter().position(is_current);
            let question = format!("{step} Thinking level:");
            let chosen = person.choice(&question, levels.into(), cursor.unwrap_or(0))?;
            definition.thinking = chosen
                .and_then(ThinkingLevel::from_word)
                .or(definition.thinking);
        }
    }
    Ok(())
}

fn review(
    person: &dyn Person,
    step: &str,
    definition: Definition,
    seen: &Seen,
) -> Result<Option<Definition>, Stopped> {
    save::check(&definition).map_err(Stopped::Failed)?;
    let page = details::page(&definition, &seen.short(&definition.file));
    person.show(&page)?;
    Ok(
        match person.yes(
            &format!("{step} Save this {}?", definition.dialect.as_str()),
            true,
        )? {
            Some(true) => Some(definition),
            Some(false) | None => None,
        },
    )
}
