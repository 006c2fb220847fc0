//! The ten steps, in their order.

use pi_subagents_vocabulary::Definition;

use super::field::{Wish, on_enter, wish};
use super::skipping::Skipping;
use super::{lists, models, place};
use crate::ask::{Person, Stopped};
use crate::flags::filled;
use crate::seen::Seen;
use crate::{details, save};

/// Asks for the kind of a new definition.
pub(crate) fn begin(person: &dyn Person, definition: &mut Definition) -> Result<(), Stopped> {
    place::kind(person, "1/10", definition)
}

/// Asks about everything, beginning with the fields that are set already. A question that is
/// cancelled leaves its field as it is, and two in a row end the wizard. `None` is a no at the end,
/// where cancelling means no too.
pub(crate) fn walk(
    at_review: &dyn Person,
    mut definition: Definition,
    seen: &Seen,
) -> Result<Option<Definition>, Stopped> {
    let person: &dyn Person = &Skipping::new(at_review);
    place::scope(person, "1/10", &mut definition, seen)?;
    place::description(person, "1/10", &mut definition)?;
    models::provider_and_model(person, &mut definition, seen)?;
    system_prompt(person, "4/10", &mut definition)?;
    appended_text(person, "5/10", &mut definition)?;
    models::thinking(person, "6/10", &mut definition)?;
    lists::tools(person, "7/10", &mut definition)?;
    lists::extensions(person, "8/10", &mut definition)?;
    lists::skills(person, "9/10", &mut definition)?;
    review(at_review, "10/10", definition, seen)
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
            let answer = person.line(&question, &initial, on_enter(&initial))?;
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
