//! The key for a provider: from the caller, `auth.json`, `models.json` or the environment.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

use pi_subagents_files::read_own_text;
use pi_subagents_pi_files::json;
use serde::Deserialize;
use serde_json::Value;

use super::installed_pi::TokenError;
use super::interpolation::Unresolved;
use super::models_file::MODELS_FILE;
use super::{KnownModels, LARGEST_FILE, builtin, interpolation, local_servers};

/// The file in which pi keeps keys and logins.
pub(super) const AUTH_FILE: &str = "auth.json";

/// A key. It can be used, but not printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    /// A key of the provider, shown as its wire format wants it.
    Key(String),
    /// A token of a login, always shown as a bearer token.
    Token(String),
}

impl Credential {
    pub(crate) fn secret(&self) -> &str {
        match self {
            Self::Key(secret) | Self::Token(secret) => secret,
        }
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Credential(****)")
    }
}

/// A key that came with the start of the agent; it beats every other key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenKey {
    /// None means it is for whichever provider is asked.
    pub(crate) provider: Option<String>,
    pub(crate) key: Credential,
}

/// No key was found; the text names the places for one.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("No API key found for {provider}.\n\n{advice}")]
pub(crate) struct CredentialError {
    provider: String,
    advice: String,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum AuthEntry {
    ApiKey {
        key: String,
        #[serde(default)]
        env: BTreeMap<String, String>,
    },
    #[serde(other)]
    Login,
}

/// The places in which keys are looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keyring<'a> {
    pub(crate) given: Option<&'a GivenKey>,
    pub(crate) known_models: &'a KnownModels,
    pub(crate) agent_dir: &'a Path,
    pub(crate) variables: &'a BTreeMap<String, String>,
}

impl Keyring<'_> {
    /// Finds the key of `provider`; a server of the user's own may do without a key.
    pub(crate) async fn find(&self, provider: &str) -> Result<Option<Credential>, CredentialError> {
        let given = self.given.filter(|given| {
            given
                .provider
                .as_deref()
                .is_none_or(|for_| for_ == provider)
        });
        if let Some(given) = given {
            return Ok(Some(given.key.clone()));
        }
        let mut missed = Missed::default();
        match self.stored(provider) {
            Some(AuthEntry::ApiKey { key, env }) => {
                let mut known = self.variables.clone();
                known.extend(env);
                match interpolation::resolve(&key, &known, self.agent_dir).await {
                    Ok(key) => return Ok(Some(Credential::Key(key))),
                    Err(why) => missed.add(&self.agent_dir.join(AUTH_FILE), &key, &why),
                }
            }
            Some(AuthEntry::Login) => {
                let installed = &self.known_models.installed;
                let token = installed.token(provider, self.agent_dir, self.variables);
                match token.await {
                    Ok(token) => return Ok(Some(Credential::Token(token))),
                    Err(why) => missed.login = Some(why),
                }
            }
            None => {}
        }
        if let Some(key) = self.known_models.key(provider) {
            match interpolation::resolve(key, self.variables, self.agent_dir).await {
                Ok(key) => return Ok(Some(Credential::Key(key))),
                Err(why) => missed.add(&self.agent_dir.join(MODELS_FILE), key, &why),
            }
        }
        if let Some(key) = self.of_environment(provider) {
            return Ok(Some(key));
        }
        let needs_none = builtin::is_local(provider) || self.known_models.has_own_address(provider);
        if needs_none && missed.is_empty() && self.known_models.key(provider).is_none() {
            return Ok(None);
        }
        Err(CredentialError {
            provider: provider.to_owned(),
            advice: self.advice(provider, missed).await,
        })
    }

    /// Returns whether a key is at hand, without running anything to get it.
    pub(crate) fn seems_to_have(&self, provider: &str) -> bool {
        self.given
            .is_some_and(|given| given.provider.as_deref() == Some(provider))
            || self.stored(provider).is_some()
            || self.known_models.key(provider).is_some()
            || self.of_environment(provider).is_some()
    }

    /// Returns whether pi keeps a login for `provider`.
    pub(crate) fn has_login(&self, provider: &str) -> bool {
        matches!(self.stored(provider), Some(AuthEntry::Login))
    }

    fn of_environment(&self, provider: &str) -> Option<Credential> {
        let names = builtin::variables_of(provider).iter();
        names.into_iter().find_map(|name| {
            let value = self
                .variables
                .get(*name)
                .filter(|value| !value.is_empty())?;
            Some(if builtin::holds_token(name) {
                Credential::Token(value.clone())
            } else {
                Credential::Key(value.clone())
            })
        })
    }

    pub(super) fn stored(&self, provider: &str) -> Option<AuthEntry> {
        stored_entry(provider, self.agent_dir)
    }

    async fn advice(&self, provider: &str, missed: Missed) -> String {
        let usual = builtin::variables_of(provider).iter();
        let mut missing = missed.variables;
        missing.extend(usual.map(|name| (*name).to_owned()));
        let file = self.agent_dir.join(AUTH_FILE);
        let file = file.display();
        let variable = match &missing[..] {
            [] => String::new(),
            names => format!("Set the environment variable {}, or ", names.join(" or ")),
        };
        let verb = if variable.is_empty() { "Put" } else { "put" };
        let mut advice = format!(
            "{variable}{verb} {{\"{provider}\": {{\"type\": \"api_key\", \"key\": \"...\"}}}} into {file}."
        );
        if let Some(why) = missed.login {
            advice = format!("{file} holds a login, but {why}. {advice}");
        }
        for failure in missed.commands.iter().rev() {
            advice = format!("{failure}. {advice}");
        }
        if let Some(why) = unusable(&self.agent_dir.join(AUTH_FILE)) {
            advice = format!("{why}. {advice}");
        }
        let asked = tokio::task::spawn_blocking(|| local_servers::answering(&local_servers::USUAL));
        for server in asked.await.unwrap_or_default() {
            advice.push('\n');
            advice.push_str(&server.sentence());
        }
        advice
    }
}

fn stored_entry(name: &str, agent_dir: &Path) -> Option<AuthEntry> {
    let text = read_own_text(&agent_dir.join(AUTH_FILE), LARGEST_FILE).ok()?;
    let mut entries: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).ok()?;
    serde_json::from_value(entries.remove(name)?).ok()
}

/// Returns a key of the user's file of keys; `None` if it holds no key of this name.
pub(crate) async fn stored_key(
    name: &str,
    agent_dir: &Path,
    variables: &BTreeMap<String, String>,
) -> Option<String> {
    let AuthEntry::ApiKey { key, env } = stored_entry(name, agent_dir)? else {
        return None;
    };
    let mut known = variables.clone();
    known.extend(env);
    interpolation::resolve(&key, &known, agent_dir).await.ok()
}

/// The places that should hold a key and gave none.
#[derive(Debug, Default)]
struct Missed {
    /// The variables that are not set.
    variables: Vec<String>,
    /// A sentence about each command that gave no key.
    commands: Vec<String>,
    /// The reason why a login gave no token.
    login: Option<TokenError>,
}

impl Missed {
    /// Notes that the value of a key in a file is not resolved.
    fn add(&mut self, file: &Path, value: &str, why: &Unresolved) {
        match why {
            Unresolved::Variable => self.variables.extend(interpolation::names(value)),
            Unresolved::Command(why) => self.commands.push(format!(
                "The command for the key in {} {why}",
                file.display()
            )),
        }
    }

    fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.commands.is_empty()
    }
}

/// Returns why a file of keys cannot be used; None if it can, or does not exist. No word of the file
/// is repeated, because it holds keys.
pub(super) fn unusable(file: &Path) -> Option<String> {
    let text = match read_own_text(file, LARGEST_FILE) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return Some(format!("{} cannot be read: {error}", file.display())),
    };
    match json::parse(&text) {
        Ok(Value::Object(_)) => None,
        Ok(_) => Some(format!("{} must hold one object in braces", file.display())),
        Err(problem) => {
            let place = problem.place(file);
            Some(format!("{place} is not JSON: {}", problem.message))
        }
    }
}
