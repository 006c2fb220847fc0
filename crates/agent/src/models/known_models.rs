//! Everything known about providers and models: `models.json` over pi's own catalogue over
//! the built-in providers.

use std::collections::BTreeMap;
use std::path::Path;

use pi_subagents_vocabulary::nearest;

use super::entries::{ModelEntry, ProviderEntry};
use super::models_file::{self, ModelsFileError};
use super::{InstalledPi, Model, Wire, builtin};

/// Providers and models by name.
#[derive(Debug, Default)]
pub(crate) struct KnownModels {
    providers: BTreeMap<String, ProviderEntry>,
    /// Knows prices and sizes of the built-in providers' models; asked only when they are.
    pub(super) installed: InstalledPi,
    /// The reason why `models.json` cannot be used; then the built-in providers are all there is.
    pub(crate) problem: Option<ModelsFileError>,
    /// Keys of `models.json` that are probably misspelt.
    pub(crate) warnings: Vec<String>,
}

impl KnownModels {
    /// Reads `models.json`. A missing file is fine; a broken file is a problem to report.
    pub(crate) fn load(agent_dir: &Path, installed: InstalledPi) -> Self {
        let (file, problem) = match models_file::read(agent_dir) {
            Ok(file) => (file, None),
            Err(problem) => (models_file::ModelsFile::default(), Some(problem)),
        };
        Self {
            providers: file.providers,
            installed,
            problem,
            warnings: file.warnings,
        }
    }

    pub(crate) fn knows_provider(&self, provider: &str) -> bool {
        self.providers.contains_key(provider) || builtin::is_known(provider)
    }

    /// Returns the models of `models.json`, by provider and then in the order of the file.
    pub(crate) fn models(&self) -> Vec<Model> {
        let listed = self.providers.iter().flat_map(|(id, provider)| {
            let entries = provider.models.iter();
            entries.map(move |entry| self.model(id, entry.clone()))
        });
        listed.collect()
    }

    /// Returns the models of one provider, including those of the installed pi.
    pub(crate) fn models_of(&self, provider: &str) -> Vec<Model> {
        let own = self.providers.get(provider);
        let mut entries: Vec<ModelEntry> = own.map(|own| own.models.clone()).unwrap_or_default();
        for entry in self.installed.models(provider).iter() {
            if !entries.iter().any(|known| known.id == entry.id) {
                entries.push(ModelEntry::named(&entry.id));
            }
        }
        entries
            .into_iter()
            .map(|entry| self.model(provider, entry))
            .collect()
    }

    /// Returns the names of all providers that could be asked.
    pub(crate) fn provider_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.providers.keys().cloned().collect();
        for id in builtin::ids() {
            if !names.iter().any(|name| name == id) {
                names.push(id.to_owned());
            }
        }
        names
    }

    /// Returns the provider that was probably meant by an unknown name.
    pub(crate) fn nearest_provider(&self, name: &str) -> Option<String> {
        let known = self.provider_names();
        nearest(name, known.iter().map(String::as_str)).map(str::to_owned)
    }

    /// Returns a model that is not listed, with the settings of its provider.
    pub(crate) fn unlisted(&self, provider: &str, id: &str) -> Model {
        self.model(provider, ModelEntry::named(id))
    }

    /// Returns the key of a provider in `models.json`, with its variables not yet filled in.
    pub(super) fn key(&self, provider: &str) -> Option<&str> {
        self.providers.get(provider)?.api_key.as_deref()
    }

    /// Returns whether the key is sent as a bearer token too.
    pub(crate) fn wants_bearer(&self, provider: &str) -> bool {
        self.providers
            .get(provider)
            .is_some_and(|own| own.auth_header)
    }

    /// Returns whether the provider is listed without a key, at an address of the user's own.
    pub(crate) fn needs_no_key(&self, provider: &str) -> bool {
        self.key(provider).is_none() && self.has_own_address(provider)
    }

    /// Returns whether the user gave the provider an address, which may need no key at all.
    pub(super) fn has_own_address(&self, provider: &str) -> bool {
        let entry = self.providers.get(provider);
        entry.is_some_and(|entry| {
            entry.base_url.is_some() || entry.models.iter().any(|model| model.base_url.is_some())
        })
    }

    /// Puts a model together: the user's fields come before pi's, and pi's before the built-in
    /// ones.
    fn model(&self, provider: &str, entry: ModelEntry) -> Model {
        let nothing = ProviderEntry::default();
        let own = self.providers.get(provider).unwrap_or(&nothing);
        let change = own.model_overrides.get(&entry.id).cloned();
        let mut entry = change.unwrap_or_default().over(entry);
        entry.api = entry.api.or_else(|| own.api.clone());
        entry.base_url = entry.base_url.or_else(|| own.base_url.clone());
        let reached = builtin::reach(provider, &entry.id);
        if let Some(mut known) = self.installed.model(provider, &entry.id) {
            let is_spoken = known
                .api
                .as_deref()
                .is_some_and(|api| Wire::named(api).is_some());
            if !is_spoken && reached.is_some() {
                (known.api, known.base_url) = (None, None);
            }
            entry = entry.over(known);
        }
        let (api, base_url) = match reached {
            Some(reached) => (reached.api, reached.base_url),
            None => ("openai-completions", ""),
        };
        let mut headers = own.headers.clone();
        headers.extend(entry.headers);
        Model {
            name: entry.name.unwrap_or_else(|| entry.id.clone()),
            id: entry.id,
            api: entry.api.unwrap_or_else(|| api.to_owned()),
            provider: provider.to_owned(),
            base_url: entry.base_url.unwrap_or_else(|| base_url.to_owned()),
            reasoning: entry.reasoning.unwrap_or(false),
            input: entry.input.unwrap_or_else(|| vec!["text".to_owned()]),
            cost: entry.cost,
            context_window: entry.context_window,
            max_tokens: entry.max_tokens,
            headers,
            thinking_levels: entry.thinking_level_map.unwrap_or_default(),
            compat: entry.compat.over(own.compat.clone()),
        }
    }
}
