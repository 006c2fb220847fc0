//! Lists the providers that have a key, and the places of the keys; never a key.

use pi_subagents_agent::{
    DefaultModel, DefaultReason, KeyPlace, ModelCatalogue, ModelOverview, Surroundings,
    UsableProvider, model_overview,
};

use super::check::Check;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;

/// The number of providers that are named.
const MOST_NAMED: usize = 6;

pub(super) fn models(seen: &VisibleAgents, has_pi: bool) -> Check {
    let overview = model_overview(&Surroundings::from(&seen.places));
    let check = match (overview.problems.as_slice(), overview.usable.as_slice()) {
        ([first, more @ ..], _) => {
            let check = Check::new("models", first).problem();
            let check = more.iter().fold(check, Check::hint);
            check.hint("Runs that need it fail until you fix it.")
        }
        ([], []) => without_key(seen, has_pi),
        ([], usable) => {
            let check = Check::new("models", listed(usable, seen));
            match (
                seen.configuration().settings.default_model.is_some(),
                default_model(seen),
            ) {
                (true, _) => check,
                (false, Some(found)) => check.hint(by_default(&found)),
                (false, None) => without_default(check, has_pi),
            }
        }
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

/// Names the providers and the places of their keys.
pub(in crate::commands) fn listed(usable: &[UsableProvider], seen: &VisibleAgents) -> String {
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

fn place(key: &KeyPlace, seen: &VisibleAgents) -> String {
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
        "The default model is {model}, and {provider} has no key: runs that name no other model will fail."
    ))
}

/// Checks what a run asks if no provider has a key. A pi may have providers of its extensions.
fn without_key(seen: &VisibleAgents, has_pi: bool) -> Check {
    if let Some(found) = default_model(seen) {
        let text = format!("no provider has a key; runs ask {}", found.name());
        return match found.reason {
            DefaultReason::LocalServer(name) => Check::new(
                "models",
                format!("{text}, because {name} answers on this machine"),
            ),
            DefaultReason::Listed | DefaultReason::Key(_) => Check::new("models", text),
        };
    }
    let check = Check::new("models", "no provider has a key, so runs fail");
    let check = if has_pi {
        check.warning()
    } else {
        check.problem()
    };
    check.hint(how_to_get_one(seen))
}

/// Says that the embedded agent cannot choose among the providers that have a key.
fn without_default(check: Check, has_pi: bool) -> Check {
    let check = if has_pi {
        check.warning()
    } else {
        check.problem()
    };
    check.hint(
        "The embedded agent has no default model for these providers, so a run of it without --model fails. Install pi, or set the key of another provider, for example with: export ANTHROPIC_API_KEY=sk-… (pi-subagents models lists all).",
    )
}

/// Says which model a run without a model asks.
fn by_default(found: &DefaultModel) -> String {
    let name = found.name();
    match &found.reason {
        DefaultReason::Key(all) if all.len() > 1 => format!(
            "A run of the embedded agent without --model asks {name}: the first provider with a key, in the order {}.",
            all.join(", ")
        ),
        DefaultReason::Key(_) | DefaultReason::Listed | DefaultReason::LocalServer(_) => {
            format!("A run of the embedded agent without --model asks {name}.")
        }
    }
}

fn default_model(seen: &VisibleAgents) -> Option<DefaultModel> {
    ModelCatalogue::read(Surroundings::from(&seen.places)).default_model()
}

fn how_to_get_one(seen: &VisibleAgents) -> String {
    let file = seen.short(&seen.places.agent_dir.join("models.json"));
    format!(
        "Set the key of a provider, for example with: export ANTHROPIC_API_KEY=sk-… (pi-subagents models lists all), or list a server of your own in {file}. pi-subagents tour needs no key."
    )
}
