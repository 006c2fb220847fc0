//! The models that are known without any file: facts that `cargo xtask models` wrote into
//! `catalogue.jsonl`. The file has one line per provider, in the order in which a provider with a key is
//! chosen. A line is read when somebody asks for its provider.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::entries::ModelEntry;

static CATALOGUE: &str = include_str!("catalogue.jsonl");

/// The first line: when the catalogue was made, and of what.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CatalogueOrigin {
    /// The day on which the facts were fetched.
    pub made: String,
    /// The package and version that the facts come from.
    pub from: String,
}

/// The line of a provider.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BuiltInModels {
    /// The model that is asked when nobody names one.
    pub(super) default: String,
    /// Short names and the ids that they stand for.
    pub(super) aliases: BTreeMap<String, String>,
    api: Option<String>,
    base_url: Option<String>,
    pub(super) models: Vec<ModelEntry>,
}

impl BuiltInModels {
    /// Returns the built-in models of a provider.
    pub(super) fn of(provider: &str) -> Option<Self> {
        let line = lines().find(|line| provider_of(line) == Some(provider))?;
        serde_json::from_str(line).ok()
    }

    /// Returns one model with the format and the address that it shares with the others.
    pub(super) fn model(&self, id: &str) -> Option<ModelEntry> {
        let entry = self.models.iter().find(|entry| entry.id == id)?;
        let shared = ModelEntry {
            api: self.api.clone(),
            base_url: self.base_url.clone(),
            ..ModelEntry::named(id)
        };
        Some(entry.clone().over(shared))
    }
}

/// Returns the providers with built-in models, in the order in which one with a key is chosen.
pub(super) fn providers() -> impl Iterator<Item = &'static str> {
    lines().filter_map(provider_of)
}

/// Returns when the catalogue was made, and of what.
pub fn catalogue_origin() -> CatalogueOrigin {
    let first = CATALOGUE.lines().next().unwrap_or_default();
    serde_json::from_str(first).unwrap_or_else(|_| CatalogueOrigin {
        made: String::new(),
        from: String::new(),
    })
}

fn lines() -> impl Iterator<Item = &'static str> {
    CATALOGUE.lines().skip(1)
}

/// Reads the provider off the beginning of its line, because parsing all lines takes milliseconds.
fn provider_of(line: &'static str) -> Option<&'static str> {
    let rest = line.strip_prefix("{\"provider\":\"")?;
    rest.split('"').next()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::models::{Wire, builtin};

    #[test]
    fn every_line_is_whole_and_its_provider_can_be_asked() {
        let origin = catalogue_origin();
        assert!(
            origin.from.starts_with("@earendil-works/pi-ai "),
            "{origin:?}"
        );
        assert_eq!(origin.made.len(), "2026-11-18".len());
        for provider in providers() {
            let known = BuiltInModels::of(provider).unwrap();
            assert!(!builtin::variables_of(provider).is_empty(), "{provider}");
            for id in known.aliases.values().chain([&known.default]) {
                let model = known.model(id).unwrap();
                assert!(model.context_window.is_some(), "{provider}/{id}");
                assert!(model.cost.is_some(), "{provider}/{id}");
            }
            for model in &known.models {
                let api = known.model(&model.id).unwrap().api;
                let is_spoken = api.is_none_or(|api| Wire::named(&api).is_some());
                assert!(is_spoken, "{provider}/{}", model.id);
            }
        }
    }

    #[test]
    fn every_line_belongs_to_another_provider() {
        let mut seen: Vec<&str> = providers().collect();
        assert_eq!(seen.len(), CATALOGUE.lines().count() - 1);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), CATALOGUE.lines().count() - 1);
    }
}
