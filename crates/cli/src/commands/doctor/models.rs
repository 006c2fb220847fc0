//! Lists the providers that have a key, and the places of the keys; never a key.

use pi_subagents_agent::{KeyPlace, ModelOverview, Surroundings, UsableProvider, model_overview};

use super::check::Check;
use pi_subagents_definition_commands::seen::Seen;

/// The number of providers that are named.
const MOST_NAMED: usize = 6;

pub(super) fn models(seen: &Seen) -> Check {
    let overview = model_overview(&Surroundings::from(&seen.places));
    let check = match (overview.problems.as_slice(), overview.usable.as_slice()) {
        ([first, more @ ..], _) => {
            let check = Check::new("models", first).problem();
            let check = more.iter().fold(check, Check::hint);
            check.hint("Runs that need it fail until it is mended.")
        }
        ([], []) => Check::new("models", "no provider has a key")
            .warning()
            .hint(how_to_get_one(seen)),
        ([], usable) => Check::new("models", listed(usable, seen)),
    };
    let check = match default_without_key(&overview) {
        Some(text) if overview.problems.is_empty() => check.problem().hint(text),
        Some(_) | None => check,
    };
    let unset = overview.unset.iter().map(|(provider, variable)| {
        format!("The key of {provider} should be in the variable {variable}, which is not set.")
    });
    check.warnings(unset.chain(overview.warnings.iter().cloned()))
}

fn listed(usable: &[UsableProvider], seen: &Seen) -> String {
    let mut shown: Vec<String> = usable
        .iter()
        .take(MOST_NAMED)
        .map(|provider| format!("{} ({})", provider.name, place(&provider.key, seen)))
        .collect();
    if let Some(more) = usable
        .len()
        .checked_sub(MOST_NAMED)
        .filter(|more| *more > 0)
    {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}

fn place(key: &KeyPlace, seen: &Seen) -> String {
    match key {
        KeyPlace::Variable(name) => name.clone(),
        KeyPlace::File(file) => seen.short(file),
        KeyPlace::Login(file) => format!("login in {}", seen.short(file)),
        KeyPlace::Command(file) => format!("command in {}", seen.short(file)),
        KeyPlace::None => "without key".to_owned(),
    }
}

/// Warns if the provider of the default model has no key, which would otherwise come up in the
/// middle of a run.
fn default_without_key(overview: &ModelOverview) -> Option<String> {
    let provider = overview.default_provider.as_deref()?;
    if overview.usable.iter().any(|one| one.name == provider) {
        return None;
    }
    let model = match &overview.default_model {
        Some(model) => format!("{provider}/{model}"),
        None => provider.to_owned(),
    };
    Some(format!(
        "The default model is {model}, and {provider} has no key: runs without a model of their own will fail."
    ))
}

fn how_to_get_one(seen: &Seen) -> String {
    let file = seen.short(&seen.places.agent_dir.join("models.json"));
    format!(
        "Set a variable such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or list a server of your own in {file}. pi-subagents tour needs no key."
    )
}
