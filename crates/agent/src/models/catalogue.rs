//! `models.json`: the providers and models a user added or changed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;

use super::{Model, builtin, json_with_comments};
use crate::usage::Price;

/// Everything known about providers and models.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    providers: BTreeMap<String, ProviderEntry>,
    /// Why `models.json` could not be used; then the built-in providers are all there is.
    pub(crate) problem: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct ModelsFile {
    #[serde(default)]
    providers: BTreeMap<String, ProviderEntry>,
}

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ProviderEntry {
    base_url: Option<String>,
    api_key: Option<String>,
    api: Option<String>,
    headers: BTreeMap<String, String>,
    models: Vec<ModelEntry>,
    model_overrides: BTreeMap<String, ModelEntry>,
}

#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ModelEntry {
    id: String,
    name: Option<String>,
    api: Option<String>,
    base_url: Option<String>,
    reasoning: Option<bool>,
    thinking_level_map: Option<BTreeMap<String, Option<String>>>,
    input: Option<Vec<String>>,
    cost: Option<Price>,
    context_window: Option<u64>,
    max_tokens: Option<u64>,
    headers: BTreeMap<String, String>,
}

impl Catalogue {
    /// Reads `models.json`; a missing one is fine, a broken one is a problem to report.
    pub(crate) fn load(agent_dir: &Path) -> Self {
        let path = agent_dir.join("models.json");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::default(),
            Err(error) => return Self::broken(&path, &error),
        };
        match json_with_comments::parse::<ModelsFile>(&text) {
            Ok(file) => Self {
                providers: file.providers,
                problem: None,
            },
            Err(error) => Self::broken(&path, &error),
        }
    }

    fn broken(path: &Path, error: &dyn std::fmt::Display) -> Self {
        Self {
            providers: BTreeMap::new(),
            problem: Some(format!("Could not use {}: {error}", path.display())),
        }
    }

    pub(crate) fn knows_provider(&self, provider: &str) -> bool {
        self.providers.contains_key(provider) || builtin::find(provider).is_some()
    }

    /// The models of `models.json`, by provider and then in the order of the file.
    pub(crate) fn models(&self) -> Vec<Model> {
        let listed = self.providers.iter().flat_map(|(id, provider)| {
            let entries = provider.models.iter();
            entries.map(move |entry| Self::model(id, provider, &overridden(provider, entry)))
        });
        listed.collect()
    }

    /// A model that is not listed, with what its provider says about all of them.
    pub(crate) fn unlisted(&self, provider: &str, id: &str) -> Model {
        let entry = self.providers.get(provider).cloned().unwrap_or_default();
        let named = ModelEntry {
            id: id.to_owned(),
            ..ModelEntry::default()
        };
        Self::model(provider, &entry, &overridden(&entry, &named))
    }

    /// What `models.json` gives as the key of a provider, unresolved.
    pub(super) fn key(&self, provider: &str) -> Option<&str> {
        self.providers.get(provider)?.api_key.as_deref()
    }

    /// Whether the user gave an address of their own, which may need no key at all.
    pub(super) fn has_own_address(&self, provider: &str) -> bool {
        let entry = self.providers.get(provider);
        entry.is_some_and(|entry| {
            entry.base_url.is_some() || entry.models.iter().any(|model| model.base_url.is_some())
        })
    }

    fn model(provider: &str, from: &ProviderEntry, entry: &ModelEntry) -> Model {
        let built_in = builtin::find(provider);
        let api = entry.api.clone().or_else(|| from.api.clone());
        let base_url = entry.base_url.clone().or_else(|| from.base_url.clone());
        let mut headers = from.headers.clone();
        headers.extend(entry.headers.clone());
        Model {
            id: entry.id.clone(),
            name: entry.name.clone().unwrap_or_else(|| entry.id.clone()),
            api: api.unwrap_or_else(|| {
                built_in
                    .map_or("openai-completions", |one| one.api)
                    .to_owned()
            }),
            provider: provider.to_owned(),
            base_url: base_url
                .unwrap_or_else(|| built_in.map_or("", |one| one.base_url).to_owned()),
            reasoning: entry.reasoning.unwrap_or(false),
            input: entry
                .input
                .clone()
                .unwrap_or_else(|| vec!["text".to_owned()]),
            cost: entry.cost,
            context_window: entry.context_window,
            max_tokens: entry.max_tokens,
            headers,
            thinking_levels: entry.thinking_level_map.clone().unwrap_or_default(),
        }
    }
}

fn overridden(provider: &ProviderEntry, entry: &ModelEntry) -> ModelEntry {
    let Some(change) = provider.model_overrides.get(&entry.id) else {
        return entry.clone();
    };
    let (change, entry) = (change.clone(), entry.clone());
    let mut headers = entry.headers;
    headers.extend(change.headers);
    ModelEntry {
        id: entry.id,
        name: change.name.or(entry.name),
        api: change.api.or(entry.api),
        base_url: change.base_url.or(entry.base_url),
        reasoning: change.reasoning.or(entry.reasoning),
        thinking_level_map: change.thinking_level_map.or(entry.thinking_level_map),
        input: change.input.or(entry.input),
        cost: change.cost.or(entry.cost),
        context_window: change.context_window.or(entry.context_window),
        max_tokens: change.max_tokens.or(entry.max_tokens),
        headers,
    }
}
