//! Finds the model that answers, its address and its key in pi's configuration.

mod bounded_output;
mod builtin;
mod builtin_models;
mod catalogue;
mod choice_error;
mod credentials;
mod default_model;
mod entries;
mod installed_pi;
mod interpolation;
mod known_models;
mod local_servers;
mod meant_model;
mod models_file;
mod offered_models;
mod overview;
mod pattern;
mod secrets;
mod wire;

pub use builtin_models::{CatalogueOrigin, catalogue_origin};
pub use catalogue::{AskedModel, FoundModel, ModelCatalogue, SendingCost};
pub(crate) use choice_error::ChoiceError;
pub(crate) use credentials::{Credential, CredentialError, GivenKey, Keyring, stored_key};
pub use default_model::{DefaultModel, DefaultReason};
pub(crate) use entries::Compat;
pub(crate) use installed_pi::InstalledPi;
pub(crate) use interpolation::{Unresolved, resolve as interpolate};
pub(crate) use known_models::KnownModels;
pub use local_servers::local_model_servers;
pub use meant_model::{MeantBy, MeantModel};
pub(crate) use models_file::ModelsFileError;
pub use offered_models::{
    OfferedModel, OfferedPrice, OfferedProvider, all_providers, offered_models,
};
pub use overview::{KeyPlace, ModelOverview, UsableProvider, model_overview};
pub(crate) use pattern::{Choice, Wanted, choose};
pub use secrets::{is_everyday, secret_variables};
pub(crate) use wire::Wire;

use std::collections::BTreeMap;

use pi_subagents_vocabulary::ThinkingLevel;
use serde::Serialize;

use crate::usage::Price;

/// The provider whose models are scripts.
pub(crate) const SCRIPTED: &str = "scripted";

/// Files of models and keys are not read beyond this.
const LARGEST_FILE: u64 = 16 << 20;

/// A model that can be asked, in the shape in which pi reports it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Model {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) api: String,
    pub(crate) provider: String,
    pub(crate) base_url: String,
    pub(crate) reasoning: bool,
    pub(crate) input: Vec<String>,
    /// Absent if no file has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<Price>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) context_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<u64>,
    /// The headers of requests. They are not reported, because a header may hold a key.
    #[serde(skip)]
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(skip)]
    pub(crate) thinking_levels: BTreeMap<String, Option<String>>,
    #[serde(skip)]
    pub(crate) compat: Compat,
}

impl Model {
    /// Returns a script as a model; it costs nothing, which is a price we know.
    pub(crate) fn scripted(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: format!("Scripted model {id}"),
            api: SCRIPTED.to_owned(),
            provider: SCRIPTED.to_owned(),
            base_url: String::new(),
            reasoning: true,
            input: vec!["text".to_owned(), "image".to_owned()],
            cost: Some(Price::default()),
            context_window: Some(200_000),
            max_tokens: None,
            headers: BTreeMap::new(),
            thinking_levels: BTreeMap::new(),
            compat: Compat::default(),
        }
    }

    /// Returns the nearest level that the model has, first upwards, then downwards.
    pub(crate) fn clamp(&self, level: ThinkingLevel) -> ThinkingLevel {
        if self.api == SCRIPTED {
            return level;
        }
        let all = ThinkingLevel::ALL.into_iter();
        let higher = all.clone().filter(|one| *one >= level);
        let lower = all.rev().filter(|one| *one < level);
        let mut near = higher.chain(lower);
        near.find(|one| self.has_level(*one)).unwrap_or_default()
    }

    fn has_level(&self, level: ThinkingLevel) -> bool {
        if !self.reasoning {
            return level == ThinkingLevel::Off;
        }
        match self.thinking_levels.get(level.as_str()) {
            Some(word) => word.is_some(),
            // A model has the highest two levels only if its entry names them.
            None => level < ThinkingLevel::Xhigh,
        }
    }

    pub(crate) fn sees_images(&self) -> bool {
        self.input.iter().any(|kind| kind == "image")
    }
}

#[cfg(test)]
mod tests;
