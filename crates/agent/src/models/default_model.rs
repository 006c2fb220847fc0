//! The model that is asked when neither the caller nor the settings name one.

use super::local_servers::{self, LocalServer};
use super::{KnownModels, Model, ModelCatalogue};

/// A model that is asked by default, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultModel {
    /// The provider that is asked.
    pub provider: String,
    /// The id of the model at that provider.
    pub model: String,
    /// The reason why this model is the default.
    pub reason: DefaultReason,
}

/// The reason why a model is the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultReason {
    /// It is the first that `models.json` lists.
    Listed,
    /// Its provider has a key. These are all providers that have one, in the order in which they are
    /// preferred.
    Key(Vec<String>),
    /// A server of this name on this machine answers.
    LocalServer(&'static str),
}

impl DefaultModel {
    /// Writes provider and model with a slash between them, as `--model` takes them.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

impl ModelCatalogue {
    /// Returns the model that is asked when neither the caller nor the settings name one. Without a
    /// model in `models.json` and without any key, it asks the usual model servers on this machine,
    /// which takes less than a second.
    pub fn default_model(&self) -> Option<DefaultModel> {
        self.default_of_files().or_else(default_on_this_machine)
    }

    /// Returns the providers that have a key but no model that the embedded agent could ask by default.
    pub fn providers_without_default(&self) -> Vec<String> {
        let keyring = self.keyring();
        let in_order = self.known_models.providers_in_order().into_iter();
        let usable = in_order.filter(|name| keyring.seems_to_have(name));
        usable
            .filter(|name| self.known_models.default_of(name).is_none())
            .collect()
    }

    /// Returns the default as far as files and the environment show it.
    fn default_of_files(&self) -> Option<DefaultModel> {
        let keyring = self.keyring();
        let usable = |provider: &str| keyring.seems_to_have(provider);
        let model = default_by_key(&self.known_models, usable)?;
        let is_listed = self.known_models.models().contains(&model);
        let reason = if is_listed {
            DefaultReason::Listed
        } else {
            let in_order = self.known_models.providers_in_order().into_iter();
            DefaultReason::Key(in_order.filter(|name| usable(name)).collect())
        };
        Some(DefaultModel {
            provider: model.provider,
            model: model.id,
            reason,
        })
    }
}

fn default_on_this_machine() -> Option<DefaultModel> {
    let LocalServer {
        name,
        provider,
        models,
        ..
    } = local_servers::answering(&local_servers::USUAL)
        .into_iter()
        .find(|server| !server.models.is_empty())?;
    Some(DefaultModel {
        provider: provider.to_owned(),
        model: models.into_iter().next()?,
        reason: DefaultReason::LocalServer(name),
    })
}

/// Returns the first model of `models.json`, else the default of the first provider that is usable.
pub(super) fn default_by_key(
    known_models: &KnownModels,
    usable: impl Fn(&str) -> bool,
) -> Option<Model> {
    let listed = known_models.models().into_iter().next();
    listed.or_else(|| {
        let in_order = known_models.providers_in_order().into_iter();
        let mut usable = in_order.filter(|name| usable(name));
        usable.find_map(|name| known_models.default_of(&name))
    })
}
