//! The models that a person can choose from: those of the providers that can be asked.

use std::collections::BTreeMap;

use pi_subagents_vocabulary::ThinkingLevel;

use super::{InstalledPi, KeyPlace, KnownModels, Model, ModelOverview, builtin, model_overview};
use crate::surroundings::Surroundings;

/// A provider with its known models.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedProvider {
    /// Its name.
    pub name: String,
    /// The place of its key; `None` if it has no key and needs one.
    pub key: Option<KeyPlace>,
    /// The variables that may hold its key, the strongest first.
    pub variables: &'static [&'static str],
    /// Its models: those of `models.json` first, then those of an installed pi, then the built-in ones.
    pub models: Vec<OfferedModel>,
}

/// A model that a person can choose.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedModel {
    /// Its id at the provider.
    pub id: String,
    /// Its name for people.
    pub title: String,
    /// The number of tokens that it reads at most.
    pub context_window: Option<u64>,
    /// Dollars per million tokens that it reads and writes.
    pub price: Option<OfferedPrice>,
    /// The levels of thinking that it has.
    pub thinking: Vec<ThinkingLevel>,
    /// The short names that stand for it.
    pub aliases: Vec<String>,
    /// True if the provider is asked for this model when nobody names one.
    pub is_default: bool,
}

/// Dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfferedPrice {
    /// For tokens that the model reads.
    pub input: f64,
    /// For tokens that it writes.
    pub output: f64,
}

/// Returns the providers that have a key or need none, each with its known models, in the order in
/// which one of them is preferred. Runs nothing and sends no request.
pub fn offered_models(surroundings: &Surroundings) -> Vec<OfferedProvider> {
    let known_models = known_models(surroundings);
    let ModelOverview { usable, .. } = model_overview(surroundings);
    let mut keys: BTreeMap<String, KeyPlace> = usable
        .into_iter()
        .map(|provider| (provider.name, provider.key))
        .collect();
    let in_order = known_models.providers_in_order().into_iter();
    let mut offered: Vec<OfferedProvider> = in_order
        .filter_map(|name| {
            let key = keys.remove(&name)?;
            Some(offered(&known_models, name, Some(key)))
        })
        .collect();
    // The rest is a script, which no list has.
    let rest = keys.into_iter();
    offered.extend(rest.map(|(name, key)| self::offered(&known_models, name, Some(key))));
    offered
}

/// Returns every provider that is known, whether it has a key or not.
pub fn all_providers(surroundings: &Surroundings) -> Vec<OfferedProvider> {
    let known_models = known_models(surroundings);
    let mut usable = offered_models(surroundings);
    let in_order = known_models.providers_in_order().into_iter();
    in_order
        .map(|name| {
            let place = usable.iter().position(|provider| provider.name == name);
            match place {
                Some(place) => usable.swap_remove(place),
                None => offered(&known_models, name, None),
            }
        })
        .collect()
}

fn known_models(surroundings: &Surroundings) -> KnownModels {
    let installed = InstalledPi::find(&surroundings.variables, &surroundings.cwd);
    KnownModels::load(&surroundings.agent_dir, installed)
}

fn offered(known_models: &KnownModels, name: String, key: Option<KeyPlace>) -> OfferedProvider {
    let aliases = known_models.aliases_of(&name);
    let default = known_models.default_of(&name).map(|model| model.id);
    let models = known_models.models_of(&name).into_iter().map(|model| {
        let short = aliases.iter().filter(|(_, id)| **id == model.id);
        OfferedModel {
            aliases: short.map(|(alias, _)| alias.clone()).collect(),
            is_default: default.as_ref() == Some(&model.id),
            ..OfferedModel::from(model)
        }
    });
    OfferedProvider {
        models: models.collect(),
        key,
        variables: builtin::variables_of(&name),
        name,
    }
}

impl From<Model> for OfferedModel {
    fn from(model: Model) -> Self {
        let levels = ThinkingLevel::ALL.into_iter();
        Self {
            thinking: levels.filter(|level| model.has_level(*level)).collect(),
            price: model.cost.map(|price| OfferedPrice {
                input: price.input,
                output: price.output,
            }),
            id: model.id,
            title: model.name,
            context_window: model.context_window,
            aliases: Vec::new(),
            is_default: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::testing::Sandbox;

    /// Returns what is offered in a sandbox, in short.
    fn in_short(providers: &[OfferedProvider]) -> Vec<String> {
        let lines = providers.iter().map(|provider| {
            let models = provider.models.iter().map(|model| {
                let mark = if model.is_default { "*" } else { "" };
                format!("{}{mark}", model.id)
            });
            let models: Vec<String> = models.collect();
            format!("{}: {}", provider.name, models.join(" "))
        });
        lines.collect()
    }

    #[test]
    fn only_providers_that_can_be_asked_are_offered_the_preferred_one_first() {
        let mut sandbox = Sandbox::new();
        let models = json!({"providers": {
            "box": {"baseUrl": "http://x", "models": [{"id": "small"}, {"id": "large"}]},
            "closed": {"baseUrl": "http://x", "apiKey": "$NOT_SET", "models": [{"id": "none"}]},
        }});
        sandbox.write("agent/models.json", models.to_string());
        let key = ("XAI_API_KEY".to_owned(), "a-secret".to_owned());
        sandbox.variables.extend([key]);
        let surroundings = Surroundings {
            cwd: sandbox.path("project"),
            never_projects: sandbox.never_projects(),
            home: sandbox.path("home"),
            agent_dir: sandbox.path("agent"),
            variables: sandbox.variables.clone(),
        };
        let offered = offered_models(&surroundings);
        assert_eq!(
            in_short(&offered),
            [
                "xai: grok-4.3 grok-4.5 grok-4.6 grok-4.7*",
                "box: small* large"
            ]
        );
        let all = all_providers(&surroundings);
        let xai = all.iter().find(|provider| provider.name == "xai").unwrap();
        assert_eq!(xai, &offered[0]);
        let closed = all.iter().find(|provider| provider.name == "closed");
        assert_eq!(closed.unwrap().key, None);
    }
}
