//! The way to the model of an agent that will be confined: the host that it asks and the key for it,
//! found outside of the sandbox, in which the files with keys are hidden.

use std::path::{Path, PathBuf};

use pi_subagents_vocabulary::{NetworkHost, Secret};

use crate::model_access::ModelAccess;
use crate::models::{Credential, Model, SCRIPTED, Wanted, Wire};
use crate::session::Recorded;
use crate::settings::Settings;
use crate::surroundings::Surroundings;

/// The word before a token of a login, as in a header; a key of a provider stands alone.
pub(crate) const TOKEN_PREFIX: &str = "Bearer ";

/// The variables that name a proxy of the user.
const PROXIES: [&str; 6] = [
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "HTTP_PROXY",
    "http_proxy",
];

/// The agent whose model is looked for.
#[derive(Debug, Clone, Copy)]
pub struct RoutedAgent<'a> {
    /// The provider that its flags name.
    pub provider: Option<&'a str>,
    /// The model that its flags name.
    pub model: Option<&'a str>,
    /// The directory in which it works.
    pub cwd: &'a Path,
    /// The file of its session, which may name a model.
    pub session: Option<&'a Path>,
    /// True if the settings of its project count.
    pub trusted: bool,
}

/// The host and the key of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRoute {
    /// The provider.
    pub provider: String,
    /// The model, by the id that its provider knows.
    pub model: String,
    /// The host; `None` for a model that is not asked over a network.
    pub host: Option<NetworkHost>,
    /// The key, as it is handed over on a descriptor; `None` if none was found. The agent then says
    /// itself what is missing.
    pub key: Option<Secret>,
    /// The file that a scripted model answers from.
    pub script: Option<PathBuf>,
}

/// Finds the way to the model that an agent will ask, or says why it cannot be known.
pub fn model_route(
    agent: RoutedAgent<'_>,
    surroundings: &Surroundings,
) -> Result<ModelRoute, String> {
    // A key may come from a command, which is waited for; the caller may be in a runtime of its own.
    std::thread::scope(|scope| {
        let found = scope.spawn(|| find(agent, surroundings)).join();
        found.unwrap_or_else(|_| Err("The search for the model failed.".to_owned()))
    })
}

fn find(agent: RoutedAgent<'_>, surroundings: &Surroundings) -> Result<ModelRoute, String> {
    let AskedFrom { model, access } = asked_from(agent, surroundings)?;
    if model.api == SCRIPTED {
        return Ok(ModelRoute {
            provider: model.provider.clone(),
            model: model.id.clone(),
            host: None,
            key: None,
            script: Some(agent.cwd.join(&model.id)),
        });
    }
    let host = host_of(&model.base_url).ok_or_else(|| {
        format!(
            "Which host provider {} asks is not known. List it in networkHosts, or use network: full.",
            model.provider
        )
    })?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    // Without a key the agent itself says what is missing.
    let key = runtime.block_on(access.key(&model)).ok().flatten();
    runtime.shutdown_background();
    Ok(ModelRoute {
        provider: model.provider.clone(),
        model: model.id.clone(),
        host: Some(host),
        key: key.map(|key| Secret::new(handed(&key))),
        script: None,
    })
}

/// Returns why an agent might not reach its model from a sandbox that nobody asked for. Nothing is
/// run to find that out, and no key is looked at.
pub fn check_plain_route(
    agent: RoutedAgent<'_>,
    surroundings: &Surroundings,
) -> Result<(), String> {
    let Ok(AskedFrom { model, access }) = asked_from(agent, surroundings) else {
        return Err("the model that it asks is not known here".to_owned());
    };
    if model.api == SCRIPTED {
        return Ok(());
    }
    if host_of(&model.base_url).is_none() {
        return Err(format!(
            "the host of provider {} is not known",
            model.provider
        ));
    }
    if Wire::named(&model.api).is_none() {
        return Err(format!(
            "provider {} may need more than one key",
            model.provider
        ));
    }
    if access.has_login(&model) {
        return Err(format!(
            "the token of the login at {} cannot be renewed inside",
            model.provider
        ));
    }
    let is_set = |name: &&&str| {
        let value = surroundings.variables.get(**name);
        value.is_some_and(|value| !value.is_empty())
    };
    match PROXIES.iter().find(is_set) {
        Some(name) => Err(format!("{name} names a proxy, which is not used inside")),
        None => Ok(()),
    }
}

/// A model, and the configuration that it comes from.
struct AskedFrom {
    model: Model,
    access: ModelAccess,
}

/// Finds the model that an agent will ask.
fn asked_from(agent: RoutedAgent<'_>, surroundings: &Surroundings) -> Result<AskedFrom, String> {
    let project = agent.trusted.then_some(agent.cwd);
    let (settings, _) = Settings::read(&surroundings.agent_dir, project);
    let earlier = agent.session.and_then(|file| Recorded::read(file).ok()?);
    let mut wanted = Wanted {
        provider: agent.provider.map(str::to_owned),
        model: agent.model.map(str::to_owned),
        default_provider: settings.default_provider.clone(),
        default_model: settings.default_model.clone(),
        default_place: settings.default_place.clone(),
    };
    if let Some((provider, model)) = earlier.and_then(|recorded| recorded.model)
        && wanted.provider.is_none()
        && wanted.model.is_none()
    {
        (wanted.provider, wanted.model) = (Some(provider), Some(model));
    }
    let access = ModelAccess::new(
        surroundings.agent_dir.clone(),
        agent.cwd.to_owned(),
        surroundings.variables.clone(),
    );
    let choice = access.choose(&wanted).map_err(|error| error.to_string())?;
    let model = choice.model.ok_or("No model is selected.")?;
    Ok(AskedFrom { model, access })
}

fn handed(key: &Credential) -> String {
    match key {
        Credential::Key(key) => key.clone(),
        Credential::Token(token) => format!("{TOKEN_PREFIX}{token}"),
    }
}

/// Returns the host of an address.
fn host_of(address: &str) -> Option<NetworkHost> {
    let url = reqwest::Url::parse(address).ok()?;
    let port = url.port_or_known_default()?;
    NetworkHost::new(url.host_str()?, port).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_an_address_has_its_port() {
        let host = |address| host_of(address).map(|host| host.to_string());
        assert_eq!(
            host("https://api.example.com/v1").as_deref(),
            Some("api.example.com:443")
        );
        assert_eq!(host("http://[::1]:8080/v1").as_deref(), Some("[::1]:8080"));
        assert_eq!(host("not an address"), None);
    }
}
