//! The facts of a package about the models of a provider, as far as the embedded agent uses them.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use serde_json::{Map, Value};

/// The wire formats that the embedded agent speaks. A model with another format has no address here,
/// so it is asked in the way that the table of providers says.
const SPOKEN: [&str; 4] = [
    "anthropic-messages",
    "google-generative-ai",
    "openai-completions",
    "openai-responses",
];

/// The facts of a model that carry over as they are.
const KEPT: [&str; 7] = [
    "name",
    "reasoning",
    "input",
    "cost",
    "contextWindow",
    "maxTokens",
    "thinkingLevelMap",
];

/// The departures from a wire format that the embedded agent knows.
const KNOWN_DEPARTURES: [&str; 4] = [
    "thinkingFormat",
    "supportsReasoningEffort",
    "maxTokensField",
    "forceAdaptiveThinking",
];

/// The models of a provider.
pub(crate) struct ProviderFacts {
    /// The wire format of most of its models.
    pub(crate) api: Option<String>,
    /// The address of most of its models.
    pub(crate) base_url: Option<String>,
    pub(crate) models: Vec<Value>,
}

impl ProviderFacts {
    /// Reads the file of a provider.
    pub(crate) fn read(package: &Path, provider: &str) -> Result<Self, Box<dyn Error>> {
        let file = package.join(format!("dist/providers/data/{provider}.json"));
        let text = std::fs::read_to_string(&file);
        let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
        let by_api: BTreeMap<String, BTreeMap<String, Map<String, Value>>> =
            serde_json::from_str(&text)?;
        let all = by_api.into_values().flat_map(BTreeMap::into_values);
        let mut models: Vec<Map<String, Value>> = all.filter(is_asked_by_chat).collect();
        models.sort_by(|one, other| one["id"].as_str().cmp(&other["id"].as_str()));
        models.dedup_by(|one, other| one["id"] == other["id"]);
        let (api, base_url) = (most_common(&models, "api"), most_common(&models, "baseUrl"));
        let kept = models.iter();
        let models = kept.map(|model| kept_of(model, api.as_deref(), base_url.as_deref()));
        Ok(Self {
            models: models.collect(),
            api,
            base_url,
        })
    }

    /// Returns the ids of its models.
    pub(crate) fn ids(&self) -> Vec<&str> {
        let ids = self.models.iter().filter_map(|model| model["id"].as_str());
        ids.collect()
    }
}

/// Returns whether a model answers a conversation at once: neither a classifier nor one of those that
/// collect requests and answer a day later.
fn is_asked_by_chat(model: &Map<String, Value>) -> bool {
    let kind = model.get("type").and_then(Value::as_str);
    let id = model.get("id").and_then(Value::as_str).unwrap_or_default();
    kind.is_none_or(|kind| kind == "chat") && !id.ends_with(":batch") && !id.ends_with("-batch")
}

fn is_spoken(model: &Map<String, Value>) -> bool {
    let api = model.get("api").and_then(Value::as_str);
    api.is_some_and(|api| SPOKEN.contains(&api))
}

/// Returns the value that most of the models have, of those with a format that we speak.
fn most_common(models: &[Map<String, Value>], key: &str) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for model in models.iter().filter(|model| is_spoken(model)) {
        *counts.entry(model.get(key)?.as_str()?).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(value, _)| value.to_owned())
}

fn kept_of(model: &Map<String, Value>, api: Option<&str>, base_url: Option<&str>) -> Value {
    let mut kept = Map::new();
    kept.insert("id".to_owned(), model["id"].clone());
    for key in KEPT {
        if let Some(value) = model.get(key) {
            kept.insert(key.to_owned(), value.clone());
        }
    }
    let departures = model.get("compat").and_then(Value::as_object);
    let known: Map<String, Value> = departures
        .into_iter()
        .flatten()
        .filter(|(key, _)| KNOWN_DEPARTURES.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !known.is_empty() {
        kept.insert("compat".to_owned(), Value::Object(known));
    }
    if is_spoken(model) {
        for (key, usual) in [("api", api), ("baseUrl", base_url)] {
            let own = model.get(key).and_then(Value::as_str);
            if own != usual {
                kept.insert(key.to_owned(), own.into());
            }
        }
    }
    Value::Object(kept)
}
