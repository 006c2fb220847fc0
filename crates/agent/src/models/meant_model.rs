//! From another tool's name for a model to a model that can be asked: an exact id, a short name, a
//! name as people read it, or the newest model whose name has its words.

use std::cmp::Reverse;

use super::pattern::{by_alias, everywhere};
use super::{Model, ModelCatalogue, Wanted};

/// The model that another tool's name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeantModel {
    /// The name as provider/id.
    pub name: String,
    /// The way in which it was found.
    pub found: MeantBy,
}

/// The way in which a model was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeantBy {
    /// It has this name.
    Name,
    /// It is the newest model whose name has these words.
    Newest,
}

/// The largest number that is part of a version; larger ones are dates.
const LARGEST_VERSION: u64 = 999;

impl ModelCatalogue {
    /// Finds the model that another tool's name means, among the models of providers with a key.
    pub fn meant_by(&self, name: &str) -> Option<MeantModel> {
        let name = without_product(name);
        if name.contains('/') {
            return Some(MeantModel {
                name: name.to_owned(),
                found: MeantBy::Name,
            });
        }
        let keyring = self.keyring();
        let usable = |provider: &str| keyring.seems_to_have(provider);
        let models = in_order(self, everywhere(&self.known_models, usable));
        if let Some(model) = models.iter().find(|model| is_called(model, name)) {
            return Some(meant(model, MeantBy::Name));
        }
        let alias = by_alias(name, &Wanted::default(), &self.known_models, usable);
        if let Some(model) = alias.and_then(|choice| choice.model) {
            return Some(meant(&model, MeantBy::Newest));
        }
        newest(&models, name).map(|model| meant(model, MeantBy::Newest))
    }
}

/// Returns models in the order in which providers are preferred.
fn in_order(catalogue: &ModelCatalogue, mut models: Vec<Model>) -> Vec<Model> {
    let order = catalogue.known_models.providers_in_order();
    let place = |model: &Model| order.iter().position(|name| *name == model.provider);
    models.sort_by_key(|model| place(model).unwrap_or(usize::MAX));
    models
}

fn meant(model: &Model, found: MeantBy) -> MeantModel {
    MeantModel {
        name: format!("{}/{}", model.provider, model.id),
        found,
    }
}

/// Returns a name without the product behind it: `Claude Sonnet 4.5 (copilot)`.
fn without_product(name: &str) -> &str {
    let name = name.trim();
    let product = name
        .strip_suffix(')')
        .and_then(|name| name.rsplit_once('('));
    product.map_or(name, |(name, _)| name.trim())
}

fn is_called(model: &Model, name: &str) -> bool {
    model.id == name || words(&model.id) == words(name) || words(&model.name) == words(name)
}

/// Returns the newest model whose name has these words. On a tie the shorter name is the plain one.
fn newest<'a>(models: &'a [Model], name: &str) -> Option<&'a Model> {
    let wanted = words(name);
    let has = |text: &str| {
        words(text)
            .windows(wanted.len().max(1))
            .any(|part| part == wanted)
    };
    let matching = models
        .iter()
        .filter(|model| !wanted.is_empty() && (has(&model.id) || has(&model.name)));
    // The last of several equal ones would be taken.
    matching
        .rev()
        .max_by_key(|model| (version(&model.id), Reverse(model.id.len())))
}

/// Returns the words and numbers of a name.
fn words(name: &str) -> Vec<String> {
    let name = name.to_lowercase();
    let words = name.split(|letter: char| !letter.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the numbers of a name that make its version.
fn version(id: &str) -> Vec<u64> {
    let numbers = words(id).into_iter().filter_map(|word| word.parse().ok());
    numbers
        .filter(|number| *number <= LARGEST_VERSION)
        .collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn models(ids: &[&str]) -> Vec<Model> {
        let model = |id: &&str| Model {
            provider: "p".to_owned(),
            name: (*id).to_owned(),
            ..Model::scripted(id)
        };
        ids.iter().map(model).collect()
    }

    fn found(ids: &[&str], name: &str) -> Option<String> {
        let models = models(ids);
        newest(&models, name).map(|model| model.id.clone())
    }

    #[test]
    fn the_newest_model_with_the_words_is_meant() {
        let claude = [
            "claude-fable-5",
            "claude-fable-5-5",
            "claude-fable-5-5-20261001",
            "claude-sonnet-5-5",
        ];
        assert_eq!(found(&claude, "fable").as_deref(), Some("claude-fable-5-5"));
        assert_eq!(found(&claude, "opus"), None);
        assert_eq!(found(&claude, ""), None);
        assert_eq!(found(&["gpt-5-fast", "grok-4-fast"], "fas"), None);
    }

    #[test]
    fn a_shown_name_is_the_same_as_an_id() {
        let models = models(&["claude-sonnet-4-5"]);
        let name = without_product("Claude Sonnet 4.5 (copilot)");
        assert!(is_called(&models[0], name), "{name}");
        assert!(!is_called(&models[0], "Claude Sonnet 4"));
    }
}
