//! Makes models usable: finds them, their keys, and the provider for their wire format.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use crate::agent::{Agent, ChosenModel};
use crate::models::{
    self, Choice, ChoiceError, Credential, CredentialError, GivenKey, InstalledPi, Keyring,
    KnownModels, Model, ModelsFileError, SCRIPTED, Unresolved, Wanted, Wire,
};
use crate::providers::{
    ChatProvider, Connections, GATEWAY_KEY, Provider, ProviderError, ScriptError, ScriptedProvider,
};
use crate::servers::MissingServer;

/// The variable that every sub-agent has.
const CHILD_MARKER: &str = "PI_SUBAGENTS_CHILD";

/// The first sentence of the error of an agent that has no model.
pub(crate) const NO_MODEL: &str = "No model selected.";

/// The reason why a model cannot be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ModelError {
    #[error(
        "{NO_MODEL}\n\nName one with --model provider/id, or set defaultProvider and defaultModel in {}.",
        settings.display()
    )]
    NoneSelected { settings: PathBuf },
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    #[error(transparent)]
    ModelsFile(#[from] ModelsFileError),
    #[error("Model not found: {provider}/{id}")]
    NotFound { provider: String, id: String },
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error("Provider {provider} needs the environment variable {variable}.")]
    VariableMissing { provider: String, variable: String },
    #[error(
        "Model {model} speaks \"{api}\", which the embedded agent cannot reach. Use the real pi for it (`runner: pi`), or give it a baseUrl and an api of openai-completions, openai-responses, anthropic-messages or google-generative-ai in {}.",
        models_file.display()
    )]
    Unreachable {
        model: String,
        api: String,
        models_file: PathBuf,
    },
    #[error(
        "Model {model} has no address. {}",
        address_advice(models_file, doubts)
    )]
    NoAddress {
        model: String,
        models_file: PathBuf,
        /// The warnings about the provider in that file, such as a misspelt key.
        doubts: Vec<String>,
    },
    #[error(transparent)]
    Key(#[from] CredentialError),
    #[error("{}.", missing_header(name, provider, models_file, why))]
    Header {
        name: String,
        provider: String,
        models_file: PathBuf,
        why: Unresolved,
    },
    #[error(transparent)]
    Connections(#[from] ProviderError),
    #[error(transparent)]
    Server(#[from] MissingServer),
    #[error("Request aborted")]
    Aborted,
}

/// Names a header that has no value, and the reason.
fn missing_header(name: &str, provider: &str, models_file: &Path, why: &Unresolved) -> String {
    let subject = match why {
        Unresolved::Variable => "Header",
        Unresolved::Command(_) => "The command for header",
    };
    let file = models_file.display();
    format!("{subject} {name} of provider {provider} in {file} {why}")
}

/// Returns the step that gives a provider an address. A misspelt key is the whole reason where
/// there is one.
fn address_advice(models_file: &Path, doubts: &[String]) -> String {
    if let Some(misspelt) = doubts.iter().find(|doubt| doubt.contains("baseUrl")) {
        return misspelt.clone();
    }
    let advice = format!(
        "Add \"baseUrl\": \"http://…\" to its provider in {}.",
        models_file.display()
    );
    let said = std::iter::once(advice).chain(doubts.iter().cloned());
    said.collect::<Vec<_>>().join(" ")
}

/// The configuration that models come from.
pub(crate) struct ModelAccess {
    pub(crate) agent_dir: PathBuf,
    pub(crate) cwd: PathBuf,
    /// The whole environment, keys included.
    pub(crate) variables: BTreeMap<String, String>,
    /// The key that came with the start.
    pub(crate) given: Option<GivenKey>,
    /// The time for which a model may stay silent; `None` waits for ever.
    pub(crate) patience: Option<Duration>,
    /// The reason why the model that flags and settings ask for cannot be had. The first prompt is refused
    /// with it.
    refusal: RefCell<Option<String>>,
    /// Read only when someone asks for a model that is not scripted.
    known_models: OnceCell<KnownModels>,
    connections: RefCell<Option<(String, Connections)>>,
}

impl ModelAccess {
    pub(crate) fn new(
        agent_dir: PathBuf,
        cwd: PathBuf,
        variables: BTreeMap<String, String>,
    ) -> Self {
        Self {
            agent_dir,
            cwd,
            variables,
            given: None,
            patience: None,
            refusal: RefCell::default(),
            known_models: OnceCell::new(),
            connections: RefCell::default(),
        }
    }

    fn known_models(&self) -> &KnownModels {
        self.known_models.get_or_init(|| {
            let installed = InstalledPi::find(&self.variables, &self.cwd);
            KnownModels::load(&self.agent_dir, installed)
        })
    }

    /// Finds the model that flags and settings ask for; an error is for the user.
    pub(crate) fn choose(&self, wanted: &Wanted) -> Result<Choice, ModelError> {
        if wanted.is_scripted() {
            return Ok(models::choose(wanted, &KnownModels::default(), |_| false)?);
        }
        if let Some(problem) = &self.known_models().problem {
            // Without that file another server might get the prompt.
            return Err(problem.clone().into());
        }
        let keyring = self.keyring();
        let mut choice = models::choose(wanted, self.known_models(), |provider| {
            keyring.seems_to_have(provider)
        })?;
        if let Some(model) = &mut choice.model {
            model.base_url = self.filled(&model.base_url);
        }
        Ok(choice)
    }

    /// Refuses prompts for a reason, until a model is chosen.
    pub(crate) fn refuse_prompts(&self, why: &ModelError) {
        self.refusal.replace(Some(why.to_string()));
    }

    /// Puts variables into an address that names them in braces, as Cloudflare's does.
    fn filled(&self, address: &str) -> String {
        let mut filled = String::new();
        let mut rest = address;
        while let Some((before, after)) = rest.split_once('{') {
            let named = after.split_once('}').and_then(|(name, after)| {
                let value = self.variables.get(name)?;
                Some((value, after))
            });
            let Some((value, after)) = named else {
                break;
            };
            filled.extend([before, value]);
            rest = after;
        }
        filled + rest
    }

    /// Gives the agent its first model. A script is loaded at once; a key is looked up with the
    /// first prompt, so that a missing key refuses that prompt and not the agent.
    pub(crate) fn install(&self, agent: &Agent, model: Model) -> Result<(), ModelError> {
        let provider = if model.api == SCRIPTED {
            Some(self.script(&model)?)
        } else {
            None
        };
        agent.set_model(ChosenModel { model, provider });
        Ok(())
    }

    /// Switches to a listed model, or to any id of a known provider, from the next turn on.
    pub(crate) async fn switch(
        &self,
        agent: &Agent,
        provider: &str,
        id: &str,
    ) -> Result<Model, ModelError> {
        let not_found = || ModelError::NotFound {
            provider: provider.to_owned(),
            id: id.to_owned(),
        };
        let wanted = Wanted {
            provider: Some(provider.to_owned()),
            model: Some(id.to_owned()),
            ..Wanted::default()
        };
        let choice = self.choose(&wanted).map_err(|_| not_found())?;
        let model = choice.model.filter(|model| model.id == id);
        let model = model.ok_or_else(not_found)?;
        let provider = if model.api == SCRIPTED {
            self.script(&model)?
        } else {
            self.connect(&model).await?
        };
        agent.set_model(ChosenModel {
            model: model.clone(),
            provider: Some(provider),
        });
        Ok(model)
    }

    fn script(&self, model: &Model) -> Result<Rc<dyn Provider>, ModelError> {
        Ok(Rc::new(ScriptedProvider::load(&model.id, &self.cwd)?))
    }

    async fn connect(&self, model: &Model) -> Result<Rc<dyn Provider>, ModelError> {
        let wire = self.check(model)?;
        let key = self.key(model).await?;
        let headers = self.headers(model, key.as_ref()).await?;
        Ok(Rc::new(ChatProvider {
            wire,
            connections: self.connections(&model.base_url)?,
            key,
            headers,
            patience: self.patience,
        }))
    }

    /// Binds a key that came with the start to the provider of the first model, so that a provider
    /// that is asked later never gets it.
    pub(crate) fn bind_given_key(&mut self, agent: &Agent) {
        match (&mut self.given, agent.model()) {
            (Some(given), Some(model)) => {
                given.provider.get_or_insert(model.provider);
            }
            // Its model was not found, so nobody knows for which provider the key is.
            (Some(GivenKey { provider: None, .. }), None) => self.given = None,
            (Some(_) | None, _) => {}
        }
    }

    /// Returns the models that could be used now.
    pub(crate) fn available(&self, agent: &Agent) -> Vec<Model> {
        let mut available: Vec<Model> = agent.model().into_iter().collect();
        for provider in self.known_models().provider_names() {
            let mut models = self.known_models().models_of(&provider);
            models.retain(|model| Wire::named(&model.api).is_some() && !available.contains(model));
            // Without a model of its own a provider is not worth the question.
            if let Some(model) = models.first()
                && self.has_key(model)
            {
                available.append(&mut models);
            }
        }
        available
    }

    /// Checks that a prompt can be answered; an error names the missing part.
    pub(crate) async fn ready(&self, agent: &Agent) -> Result<(), ModelError> {
        self.ready_model(agent).await?;
        Ok(agent.setup.servers.start(&agent.output).await?)
    }

    async fn ready_model(&self, agent: &Agent) -> Result<(), ModelError> {
        let Some(model) = agent.model() else {
            let none = || ModelError::NoneSelected {
                settings: self.agent_dir.join("settings.json"),
            };
            let refusal = self.refusal.borrow().clone();
            return Err(refusal.map_or_else(none, ModelError::Refused));
        };
        if model.api == SCRIPTED {
            return Ok(());
        }
        // Looked up again for every prompt: a key may come from a command that renews it.
        let provider = Some(self.connect(&model).await?);
        agent.chosen.replace(Some(ChosenModel { model, provider }));
        Ok(())
    }

    fn check(&self, model: &Model) -> Result<Wire, ModelError> {
        if let Some((_, rest)) = model.base_url.split_once('{') {
            let name = rest.split('}').next().unwrap_or_default();
            return Err(ModelError::VariableMissing {
                provider: model.provider.clone(),
                variable: name.to_owned(),
            });
        }
        let name = || format!("{}/{}", model.provider, model.id);
        let Some(wire) = Wire::named(&model.api) else {
            return Err(ModelError::Unreachable {
                model: name(),
                api: model.api.clone(),
                models_file: self.models_file(),
            });
        };
        if model.base_url.is_empty() {
            return Err(ModelError::NoAddress {
                model: name(),
                models_file: self.models_file(),
                doubts: self.doubts_about(&model.provider),
            });
        }
        Ok(wire)
    }

    /// Returns the warnings about a provider in `models.json`.
    fn doubts_about(&self, provider: &str) -> Vec<String> {
        let place = format!("providers.{provider}.");
        let warnings = self.known_models().warnings.iter();
        let about = warnings.filter(|warning| warning.contains(&place));
        about.cloned().collect()
    }

    /// Returns the HTTP client for an address. It is kept until another address is asked for.
    fn connections(&self, address: &str) -> Result<Connections, ModelError> {
        let mut kept = self.connections.borrow_mut();
        if let Some((_, connections)) = kept.as_ref().filter(|(known, _)| known == address) {
            return Ok(connections.clone());
        }
        let made = Connections::open(address, &self.variables)?;
        *kept = Some((address.to_owned(), made.clone()));
        Ok(made)
    }

    fn keyring(&self) -> Keyring<'_> {
        Keyring {
            given: self.given.as_ref(),
            known_models: self.known_models(),
            agent_dir: &self.agent_dir,
            variables: &self.variables,
        }
    }

    /// Finds the key of a model.
    pub(crate) async fn key(&self, model: &Model) -> Result<Option<Credential>, CredentialError> {
        self.keyring().find(&model.provider).await
    }

    /// Returns whether a model is reached by a login of pi.
    pub(crate) fn has_login(&self, model: &Model) -> bool {
        self.keyring().has_login(&model.provider)
    }

    fn models_file(&self) -> PathBuf {
        self.agent_dir.join("models.json")
    }

    fn has_key(&self, model: &Model) -> bool {
        self.keyring().seems_to_have(&model.provider)
            || self.known_models().needs_no_key(&model.provider)
    }

    async fn headers(
        &self,
        model: &Model,
        key: Option<&Credential>,
    ) -> Result<BTreeMap<String, String>, ModelError> {
        let mut headers = BTreeMap::new();
        if let Some(key) = key.filter(|_| self.known_models().wants_bearer(&model.provider)) {
            let bearer = format!("Bearer {}", key.secret());
            headers.insert("authorization".to_owned(), bearer);
        }
        if let Some(key) = key.filter(|_| model.provider == "cloudflare-ai-gateway") {
            let bearer = format!("Bearer {}", key.secret());
            headers.insert(GATEWAY_KEY.to_owned(), bearer);
        }
        for (name, value) in &model.headers {
            let resolved = models::interpolate(value, &self.variables, &self.agent_dir).await;
            let resolved = resolved.map_err(|why| ModelError::Header {
                name: name.clone(),
                provider: model.provider.clone(),
                models_file: self.models_file(),
                why,
            })?;
            headers.insert(name.to_lowercase(), resolved);
        }
        // Copilot counts the requests of a person apart from those of an agent.
        if model.provider == "github-copilot" && self.variables.contains_key(CHILD_MARKER) {
            headers.insert("x-initiator".to_owned(), "agent".to_owned());
        }
        Ok(headers)
    }
}
