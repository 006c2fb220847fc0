//! The steps, in their order.

use pi_subagents_vocabulary::Definition;

use super::StepNumbers;
use super::field::{Wish, on_enter, wish};
use super::skippable_questions::Skipping;
use super::{lists, models, place};
use crate::ask::{DialogEnd, Person};
use crate::flags::filled;
use crate::visible_agents::VisibleAgents;
use crate::{details, save};

/// Asks for the kind of a new definition.
pub(crate) fn begin(
    person: &dyn Person,
    numbers: &mut StepNumbers,
    definition: &mut Definition,
) -> Result<(), DialogEnd> {
    place::kind(person, &numbers.next(), definition)
}

/// Asks about everything, beginning with the fields that are set already. A question that is
/// cancelled leaves its field as it is, and two in a row end the wizard. `None` is a no at the end,
/// where cancelling means no too.
pub(crate) fn walk(
    at_review: &dyn Person,
    mut numbers: StepNumbers,
    mut definition: Definition,
    seen: &VisibleAgents,
) -> Result<Option<Definition>, DialogEnd> {
    let person: &dyn Person = &Skipping::new(at_review);
    let mut next = || numbers.next();
    place::scope(person, &next(), &mut definition, seen)?;
    place::description(person, &next(), &mut definition)?;
    let offered = models::offered(seen);
    models::provider(person, &next(), &mut definition, &offered)?;
    models::model(person, &next(), &mut definition, &offered)?;
    system_prompt(person, &next(), &mut definition)?;
    appended_text(person, &next(), &mut definition)?;
    models::thinking(person, &next(), &mut definition)?;
    lists::tools(person, &next(), &mut definition)?;
    lists::extensions(person, &next(), &mut definition)?;
    lists::skills(person, &next(), &mut definition)?;
    review(at_review, &next(), definition, seen)
}

fn system_prompt(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
) -> Result<(), DialogEnd> {
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
) -> Result<(), DialogEnd> {
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
) -> Result<(), DialogEnd> {
    let initial = field.clone().unwrap_or_default();
    let answer = person.long_text(question, &initial)?;
    *field = answer.as_deref().and_then(filled).or(field.take());
    Ok(())
}

fn review(
    person: &dyn Person,
    step: &str,
    definition: Definition,
    seen: &VisibleAgents,
) -> Result<Option<Definition>, DialogEnd> {
    save::check(&definition).map_err(DialogEnd::Failed)?;
    let page = details::page(&definition, &seen.short(&definition.file));
    person.show(&page)?;
    let format = definition.dialect.as_str();
    let is_empty = details::is_empty(&definition);
    let question = if is_empty {
        format!("{step} Save this {format}, which sets nothing yet?")
    } else {
        format!("{step} Save this {format}?")
    };
    // A person who only pressed Enter wanted to look at the questions, not to write an empty file.
    let answer = person.yes(&question, !is_empty)?;
    Ok(answer.unwrap_or(false).then_some(definition))
}
