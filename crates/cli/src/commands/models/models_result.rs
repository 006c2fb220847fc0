//! The JSON of `models`.

use pi_subagents_agent::{CatalogueOrigin, OfferedModel, OfferedProvider};
use schemars::JsonSchema;
use serde::Serialize;

/// The JSON of `models`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModelsResult<'a> {
    /// The model that a run without a model asks, as provider/id.
    default_model: Option<&'a str>,
    /// The day on which the built-in facts were fetched.
    built_in_since: &'a str,
    /// The package and version that the built-in facts come from.
    built_in_from: &'a str,
    /// The models, provider by provider in the order in which one with a key is preferred.
    models: Vec<ListedModel<'a>>,
}

/// A model that can be asked.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedModel<'a> {
    /// The name that `--model` takes.
    name: String,
    provider: &'a str,
    id: &'a str,
    /// The name for people.
    title: &'a str,
    /// The number of tokens that it reads at most.
    context_window: Option<u64>,
    /// Dollars for a million tokens that it reads.
    input_price: Option<f64>,
    /// Dollars for a million tokens that it writes.
    output_price: Option<f64>,
    /// The levels of thinking that it has.
    thinking: Vec<&'static str>,
    /// The short names that stand for it.
    aliases: &'a [String],
    /// True if the provider is asked for this model when nobody names one.
    is_default: bool,
    /// True if its provider has a key or needs none.
    has_key: bool,
}

impl<'a> ModelsResult<'a> {
    pub(super) fn new(
        providers: &'a [OfferedProvider],
        default_model: Option<&'a str>,
        origin: &'a CatalogueOrigin,
    ) -> Self {
        let models = providers.iter().flat_map(|provider| {
            let models = provider.models.iter();
            models.map(move |model| ListedModel::of(provider, model))
        });
        Self {
            default_model,
            built_in_since: &origin.made,
            built_in_from: &origin.from,
            models: models.collect(),
        }
    }
}

impl<'a> ListedModel<'a> {
    fn of(provider: &'a OfferedProvider, model: &'a OfferedModel) -> Self {
        Self {
            name: format!("{}/{}", provider.name, model.id),
            provider: &provider.name,
            id: &model.id,
            title: &model.title,
            context_window: model.context_window,
            input_price: model.price.map(|price| price.input),
            output_price: model.price.map(|price| price.output),
            thinking: model.thinking.iter().map(|level| level.as_str()).collect(),
            aliases: &model.aliases,
            is_default: model.is_default,
            has_key: provider.key.is_some(),
        }
    }
}
