//! The form in which `models.json` and pi's own catalogue write down providers and models.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::usage::Price;

/// A provider in `models.json`.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ProviderEntry {
    pub(super) base_url: Option<String>,
    pub(super) api_key: Option<String>,
    pub(super) api: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    /// Shows the key as a bearer token too, for gateways that want it there.
    pub(super) auth_header: bool,
    pub(super) compat: Compat,
    pub(super) models: Vec<ModelEntry>,
    pub(super) model_overrides: BTreeMap<String, ModelEntry>,
}

/// A model, or the part of one that is to be changed.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ModelEntry {
    pub(super) id: String,
    pub(super) name: Option<String>,
    /// The kind of request that the model answers (`chat`, `classifier`, …), as an installed pi names
    /// it.
    pub(super) r#type: Option<String>,
    pub(super) api: Option<String>,
    pub(super) base_url: Option<String>,
    pub(super) reasoning: Option<bool>,
    pub(super) thinking_level_map: Option<BTreeMap<String, Option<String>>>,
    pub(super) input: Option<Vec<String>>,
    pub(super) cost: Option<Price>,
    pub(super) context_window: Option<u64>,
    pub(super) max_tokens: Option<u64>,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) compat: Compat,
}

impl ModelEntry {
    /// Returns a model whose name alone is known.
    pub(super) fn named(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            ..Self::default()
        }
    }

    /// Merges two entries: this entry where it has a value, `base` elsewhere.
    pub(super) fn over(self, base: Self) -> Self {
        let mut headers = base.headers;
        headers.extend(self.headers);
        Self {
            id: base.id,
            name: self.name.or(base.name),
            r#type: self.r#type.or(base.r#type),
            api: self.api.or(base.api),
            base_url: self.base_url.or(base.base_url),
            reasoning: self.reasoning.or(base.reasoning),
            thinking_level_map: self.thinking_level_map.or(base.thinking_level_map),
            input: self.input.or(base.input),
            cost: self.cost.or(base.cost),
            context_window: self.context_window.or(base.context_window),
            max_tokens: self.max_tokens.or(base.max_tokens),
            headers,
            compat: self.compat.over(base.compat),
        }
    }
}

/// The ways in which a server departs from its wire format, as far as we support them.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Compat {
    pub(crate) thinking_format: Option<String>,
    pub(crate) supports_reasoning_effort: Option<bool>,
    pub(crate) max_tokens_field: Option<String>,
    pub(crate) force_adaptive_thinking: bool,
}

impl Compat {
    pub(super) fn over(self, base: Self) -> Self {
        Self {
            thinking_format: self.thinking_format.or(base.thinking_format),
            supports_reasoning_effort: self
                .supports_reasoning_effort
                .or(base.supports_reasoning_effort),
            max_tokens_field: self.max_tokens_field.or(base.max_tokens_field),
            force_adaptive_thinking: self.force_adaptive_thinking || base.force_adaptive_thinking,
        }
    }
}
