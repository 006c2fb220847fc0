//! The steps about the model: provider, model and thinking level, chosen from the known ones.

use pi_subagents_agent::{OfferedProvider, Surroundings, offered_models};
use pi_subagents_vocabulary::{Definition, ThinkingLevel};

use super::field::{Wish, line_or, on_enter, wish};
use crate::ask::{DialogEnd, Person, Skippable};
use crate::visible_agents::VisibleAgents;

const OPEN: &str = "Leave it open: the model of the caller, or the default model";
const OTHER: &str = "Another one: type its name";

/// Returns the providers that can be asked, with their models.
pub(super) fn offered(seen: &VisibleAgents) -> Vec<OfferedProvider> {
    offered_models(&Surroundings::from(&seen.places))
}

/// Asks for the provider.
pub(super) fn provider(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
    offered: &[OfferedProvider],
) -> Result<(), DialogEnd> {
    let names: Vec<String> = offered.iter().map(|one| one.name.clone()).collect();
    let question = format!("{step} Provider:");
    line_or(
        person,
        step,
        "Provider",
        &mut definition.provider,
        |initial| one_of(person, &question, &names, initial),
    )
}

/// Asks for the model.
pub(super) fn model(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
    offered: &[OfferedProvider],
) -> Result<(), DialogEnd> {
    let models = models_of(offered, definition.provider.as_deref());
    let question = format!("{step} Model:");
    line_or(person, step, "Model", &mut definition.model, |initial| {
        one_of(person, &question, &models, initial)
    })
}

/// Returns the models to choose from: those of the provider, or those of all providers with their
/// names.
fn models_of(offered: &[OfferedProvider], provider: Option<&str>) -> Vec<String> {
    let Some(provider) = provider else {
        let all = offered.iter().flat_map(|one| {
            let models = one.models.iter();
            models.map(move |model| format!("{}/{}", one.name, model.id))
        });
        return all.collect();
    };
    let chosen = offered.iter().find(|one| one.name == provider);
    let models = chosen.into_iter().flat_map(|one| &one.models);
    models.map(|model| model.id.clone()).collect()
}

/// Lets the person choose one of the known names or type another. If no names are known, they type.
fn one_of(
    person: &dyn Person,
    question: &str,
    known: &[String],
    initial: &str,
) -> Skippable<String> {
    if known.is_empty() {
        return person.line(question, initial, on_enter(initial));
    }
    let mut options = vec![OPEN.to_owned()];
    options.extend(known.iter().cloned());
    options.push(OTHER.to_owned());
    let cursor = options.iter().position(|option| option == initial);
    let Some(place) = person.place(question, &options, cursor.unwrap_or(0))? else {
        return Ok(None);
    };
    if place == 0 {
        return Ok(Some(String::new()));
    }
    match known.get(place - 1) {
        Some(name) => Ok(Some(name.clone())),
        None => person.line(question, initial, on_enter(initial)),
    }
}

/// Asks for the thinking level.
pub(super) fn thinking(
    person: &dyn Person,
    step: &str,
    definition: &mut Definition,
) -> Result<(), DialogEnd> {
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
