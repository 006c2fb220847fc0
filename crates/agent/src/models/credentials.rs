//! The key for a provider: `auth.json`, then `models.json`, then the environment.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::{Catalogue, builtin, interpolation};

/// A key. It can be used, but not printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credential(pub(crate) String);

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Credential(****)")
    }
}

/// No key was found; the text says where one could be put.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("No API key found for {provider}.\n\n{advice}")]
pub(crate) struct CredentialError {
    provider: String,
    advice: String,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum AuthEntry {
    ApiKey {
        key: String,
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    #[serde(other)]
    Other,
}

/// Finds the key of `provider`; a server of the user's own may do without one.
pub(crate) async fn credential(
    provider: &str,
    catalogue: &Catalogue,
    agent_dir: &Path,
    variables: &BTreeMap<String, String>,
) -> Result<Option<Credential>, CredentialError> {
    let mut missing = Vec::new();
    let stored = stored(provider, agent_dir);
    if let Some(AuthEntry::ApiKey { key, env }) = &stored {
        let mut known = variables.clone();
        known.extend(env.clone());
        match interpolation::resolve(key, &known).await {
            Some(key) => return Ok(Some(Credential(key))),
            None => missing.extend(interpolation::names(key)),
        }
    }
    if let Some(key) = catalogue.key(provider) {
        match interpolation::resolve(key, variables).await {
            Some(key) => return Ok(Some(Credential(key))),
            None => missing.extend(interpolation::names(key)),
        }
    }
    let own = builtin::variables_of(provider);
    if let Some(key) = own.iter().find_map(|name| variables.get(*name)) {
        return Ok(Some(Credential(key.clone())));
    }
    if missing.is_empty()
        && catalogue.key(provider).is_none()
        && catalogue.has_own_address(provider)
    {
        return Ok(None);
    }
    missing.extend(own.iter().map(|name| (*name).to_owned()));
    Err(CredentialError {
        provider: provider.to_owned(),
        advice: advice(provider, agent_dir, &missing, stored.as_ref()),
    })
}

fn advice(
    provider: &str,
    agent_dir: &Path,
    missing: &[String],
    stored: Option<&AuthEntry>,
) -> String {
    let file = agent_dir.join("auth.json");
    let file = file.display();
    let variable = match missing {
        [] => String::new(),
        names => format!("Set the environment variable {}, or ", names.join(" or ")),
    };
    let verb = if variable.is_empty() { "Put" } else { "put" };
    let entry = format!(
        "{variable}{verb} {{\"{provider}\": {{\"type\": \"api_key\", \"key\": \"...\"}}}} into {file}."
    );
    match stored {
        Some(AuthEntry::Other) => format!(
            "{file} holds a login that only pi can use; choose `runner: pi` for it. {entry}"
        ),
        Some(AuthEntry::ApiKey { .. }) | None => entry,
    }
}

fn stored(provider: &str, agent_dir: &Path) -> Option<AuthEntry> {
    let text = fs::read_to_string(agent_dir.join("auth.json")).ok()?;
    let mut entries: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).ok()?;
    serde_json::from_value(entries.remove(provider)?).ok()
}
