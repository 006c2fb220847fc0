//! Everything known about providers and models: `models.json` over pi's own catalogue over
//! the built-in providers and models.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use pi_subagents_vocabulary::nearest;

use super::builtin_models::{self, BuiltInModels};
use super::entries::{ModelEntry, ProviderEntry};
use super::models_file::{self, ModelsFileError};
use super::{InstalledPi, Model, Wire, builtin};

/// Providers and models by name.
#[derive(Debug, Default)]
pub(crate) struct KnownModels {
    providers: BTreeMap<String, ProviderEntry>,
    /// Knows prices and sizes of the built-in providers' models; asked only when they are.
    pub(super) installed: InstalledPi,
    /// The built-in models of the providers that somebody has asked for.
    built_in: RefCell<BTreeMap<String, Rc<BuiltInModels>>>,
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
            built_in: RefCell::default(),
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

    /// Returns the models of one provider: its own in `models.json`, those of the installed pi, and the
    /// built-in ones.
    pub(crate) fn models_of(&self, provider: &str) -> Vec<Model> {
        let own = self.providers.get(provider);
        let mut entries: Vec<ModelEntry> = own.map(|own| own.models.clone()).unwrap_or_default();
        let (installed, built_in) = (self.installed.models(provider), self.built_in(provider));
        for entry in installed.iter().chain(&built_in.models) {
            if !entries.iter().any(|known| known.id == entry.id) {
                entries.push(ModelEntry::named(&entry.id));
            }
        }
        entries
            .into_iter()
            .map(|entry| self.model(provider, entry))
            .collect()
    }

    /// Returns the model that a provider is asked for when nobody names one: the first that
    /// `models.json` lists, else the built-in default, else the first of the installed pi.
    pub(crate) fn default_of(&self, provider: &str) -> Option<Model> {
        let own = self.providers.get(provider);
        let of_user = own.and_then(|own| own.models.first().cloned());
        let entry = of_user.or_else(|| {
            let built_in = self.built_in(provider);
            let is_known = !built_in.default.is_empty();
            is_known.then(|| ModelEntry::named(&built_in.default))
        });
        match entry {
            Some(entry) => Some(self.model(provider, entry)),
            None => self.models_of(provider).into_iter().next(),
        }
    }

    /// Returns the model that a short name such as `sonnet` stands for at a provider.
    pub(crate) fn alias_of(&self, provider: &str, name: &str) -> Option<Model> {
        let built_in = self.built_in(provider);
        let id = built_in.aliases.get(&name.to_lowercase())?;
        Some(self.model(provider, ModelEntry::named(id)))
    }

    /// Returns the short names of a provider's models, each with its id.
    pub(crate) fn aliases_of(&self, provider: &str) -> BTreeMap<String, String> {
        self.built_in(provider).aliases.clone()
    }

    fn built_in(&self, provider: &str) -> Rc<BuiltInModels> {
        let mut read = self.built_in.borrow_mut();
        let entry = read.entry(provider.to_owned());
        let found =
            entry.or_insert_with(|| Rc::new(BuiltInModels::of(provider).unwrap_or_default()));
        Rc::clone(found)
    }

    /// Returns the names of all providers that could be asked, first those with built-in models in the
    /// order in which one with a key is chosen.
    pub(crate) fn providers_in_order(&self) -> Vec<String> {
        let mut names: Vec<String> = builtin_models::providers().map(str::to_owned).collect();
        let others = self.provider_names().into_iter();
        let others: Vec<String> = others.filter(|name| !names.contains(name)).collect();
        names.extend(others);
        names
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

    /// Puts a model together: the user's fields come before pi's, pi's before those of the built-in
    /// catalogue, and these before those of the table of providers.
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
        if let Some(known) = self.built_in(provider).model(&entry.id) {
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
