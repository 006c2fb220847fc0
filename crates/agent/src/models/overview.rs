//! Lists the providers that could be asked and the places of their keys, without reading out any
//! key.

use std::path::PathBuf;

use super::credentials::{AUTH_FILE, AuthEntry, unusable};
use super::models_file::MODELS_FILE;
use super::{ChoiceError, InstalledPi, Keyring, KnownModels, SCRIPTED, builtin, interpolation};
use crate::settings::Settings;
use crate::surroundings::Surroundings;

/// The providers that can be used, found without asking any of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelOverview {
    /// The provider that is asked by default.
    pub default_provider: Option<String>,
    /// The model that is asked by default.
    pub default_model: Option<String>,
    /// The providers that have a key or need none, by name.
    pub usable: Vec<UsableProvider>,
    /// The variables that files name and that are not set, each with its provider.
    pub unset: Vec<(String, String)>,
    /// Files that cannot be used.
    pub problems: Vec<String>,
    /// Warnings about the files, such as misspelt keys.
    pub warnings: Vec<String>,
}

/// A provider that could be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsableProvider {
    /// Its name.
    pub name: String,
    /// The place of its key.
    pub key: KeyPlace,
}

/// The place of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// In a variable of the environment.
    Variable(String),
    /// In a file.
    File(PathBuf),
    /// A file keeps a login, from which pi makes tokens.
    Login(PathBuf),
    /// A file names the command that prints it.
    Command(PathBuf),
    /// The provider has an address of the user's own, and no key is given for it.
    None,
}

/// Looks at the files and the environment; runs nothing and sends no request.
pub fn model_overview(surroundings: &Surroundings) -> ModelOverview {
    let agent_dir = &surroundings.agent_dir;
    let (settings, _) = Settings::read(agent_dir, None);
    let known_models = KnownModels::load(agent_dir, InstalledPi::default());
    let keyring = Keyring {
        given: None,
        known_models: &known_models,
        agent_dir,
        variables: &surroundings.variables,
    };
    let mut overview = ModelOverview {
        default_provider: settings.default_provider,
        default_model: settings.default_model,
        usable: Vec::new(),
        unset: Vec::new(),
        problems: known_models
            .problem
            .iter()
            .map(ToString::to_string)
            .collect(),
        warnings: known_models.warnings.clone(),
    };
    overview
        .problems
        .extend(unusable(&agent_dir.join(AUTH_FILE)));
    let unknown = unknown_default(&overview, &known_models);
    overview.problems.extend(unknown.map(|why| {
        let place = settings.default_place.unwrap_or_default();
        format!("{place}: defaultProvider: {why}")
    }));
    let mut names = known_models.provider_names();
    names.sort();
    for name in names {
        let (place, unset) = keyring.place(&name);
        let unset = unset.into_iter().map(|variable| (name.clone(), variable));
        overview.unset.extend(unset);
        let usable = place.map(|key| UsableProvider { name, key });
        overview.usable.extend(usable);
    }
    // A script is offered only to a user whose default it is.
    if overview.default_provider.as_deref() == Some(SCRIPTED) {
        overview.usable.push(UsableProvider {
            name: SCRIPTED.to_owned(),
            key: KeyPlace::None,
        });
    }
    overview
}

/// Returns the warning that the provider of the default model is unknown.
fn unknown_default(overview: &ModelOverview, known_models: &KnownModels) -> Option<String> {
    let provider = overview.default_provider.as_deref()?;
    if known_models.knows_provider(provider) {
        return None;
    }
    let error = ChoiceError::UnknownProvider {
        provider: provider.to_owned(),
        meant: Some(known_models.nearest_provider(provider)?),
    };
    Some(error.to_string())
}

impl Keyring<'_> {
    /// Returns where the key of a provider is, and the variables that files name for it and that
    /// are not set.
    fn place(&self, provider: &str) -> (Option<KeyPlace>, Vec<String>) {
        let mut unset = Vec::new();
        let auth_file = self.agent_dir.join(AUTH_FILE);
        match self.stored(provider) {
            Some(AuthEntry::Login) => return (Some(KeyPlace::Login(auth_file)), unset),
            Some(AuthEntry::ApiKey { key, env }) => {
                let is_set = |name: &str| env.contains_key(name) || self.is_set(name);
                match written(&key, auth_file, is_set) {
                    Ok(place) => return (Some(place), unset),
                    Err(names) => unset.extend(names),
                }
            }
            None => {}
        }
        if let Some(key) = self.known_models.key(provider) {
            let models_file = self.agent_dir.join(MODELS_FILE);
            match written(key, models_file, |name| self.is_set(name)) {
                Ok(place) => return (Some(place), unset),
                Err(names) => unset.extend(names),
            }
        }
        let mut variables = builtin::variables_of(provider).iter();
        if let Some(name) = variables.find(|name| self.is_set(name)) {
            return (Some(KeyPlace::Variable((*name).to_owned())), unset);
        }
        let needs_none = self.known_models.needs_no_key(provider) && unset.is_empty();
        (needs_none.then_some(KeyPlace::None), unset)
    }

    fn is_set(&self, name: &str) -> bool {
        self.variables
            .get(name)
            .is_some_and(|value| !value.is_empty())
    }
}

/// Returns where the key of a file is: in a command, in variables, or in the file itself. The
/// variables that are not set are the error.
fn written(
    value: &str,
    file: PathBuf,
    is_set: impl Fn(&str) -> bool,
) -> Result<KeyPlace, Vec<String>> {
    if value.starts_with('!') {
        return Ok(KeyPlace::Command(file));
    }
    let mut names = interpolation::names(value);
    let unset: Vec<String> = names.iter().filter(|name| !is_set(name)).cloned().collect();
    if !unset.is_empty() {
        return Err(unset);
    }
    Ok(names.pop().map_or(KeyPlace::File(file), KeyPlace::Variable))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::testing::Sandbox;

    #[test]
    fn the_place_of_each_key_is_told_and_no_key() {
        let mut sandbox = Sandbox::new();
        let models = json!({"providers": {
            "written": {"baseUrl": "http://x", "apiKey": "a-secret"},
            "named": {"baseUrl": "http://x", "apiKey": "$NAMED_KEY"},
            "printed": {"baseUrl": "http://x", "apiKey": "!touch ran; echo a-secret"},
            "open": {"baseUrl": "http://x"},
            "unset": {"baseUrl": "http://x", "apiKey": "$NOT_SET"},
        }});
        sandbox.write("agent/models.json", models.to_string());
        let auth = json!({
            "anthropic": {"type": "oauth", "access": "a-secret"},
            "groq": {"type": "api_key", "key": "a-secret"},
        });
        sandbox.write("agent/auth.json", auth.to_string());
        let settings = json!({"defaultProvider": "groq", "defaultModel": "fast"});
        sandbox.write("agent/settings.json", settings.to_string());
        for name in ["NAMED_KEY", "OPENAI_API_KEY", "GROQ_API_KEY"] {
            let secret = "a-secret".to_owned();
            sandbox.variables.insert(name.to_owned(), secret);
        }
        let agent_dir = sandbox.path("agent");
        let overview = model_overview(&Surroundings {
            cwd: sandbox.path("project"),
            never_projects: sandbox.never_projects(),
            home: sandbox.path("home"),
            agent_dir: agent_dir.clone(),
            variables: sandbox.variables.clone(),
        });
        let auth = agent_dir.join(AUTH_FILE);
        let models = agent_dir.join(MODELS_FILE);
        let usable = [
            ("anthropic", KeyPlace::Login(auth.clone())),
            ("groq", KeyPlace::File(auth)),
            ("named", KeyPlace::Variable("NAMED_KEY".to_owned())),
            ("open", KeyPlace::None),
            ("openai", KeyPlace::Variable("OPENAI_API_KEY".to_owned())),
            ("printed", KeyPlace::Command(models.clone())),
            ("written", KeyPlace::File(models)),
        ];
        assert_eq!(
            overview,
            ModelOverview {
                default_provider: Some("groq".to_owned()),
                default_model: Some("fast".to_owned()),
                usable: usable
                    .map(|(name, key)| UsableProvider {
                        name: name.to_owned(),
                        key,
                    })
                    .into(),
                unset: vec![("unset".to_owned(), "NOT_SET".to_owned())],
                problems: Vec::new(),
                warnings: Vec::new(),
            }
        );
    }
}
