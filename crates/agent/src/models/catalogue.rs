//! Checks a model before a child is started. The check uses files alone; no server is asked.

use pi_subagents_vocabulary::ThinkingLevel;
use pi_subagents_vocabulary::child_protocol::ModelName;

use super::{
    Choice, ChoiceError, InstalledPi, Keyring, KnownModels, ModelsFileError, Wanted, choose,
};
use crate::surroundings::Surroundings;
use crate::usage::Usage;

/// The models in files: `models.json`, the installed pi, and the built-in table.
pub struct ModelCatalogue {
    pub(super) known_models: KnownModels,
    surroundings: Surroundings,
}

/// A model that was found by its name or a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundModel {
    /// Its whole name.
    pub model: ModelName,
    /// The thinking level at the end of the pattern.
    pub thinking: Option<ThinkingLevel>,
    /// A warning that another model was probably meant.
    pub warning: Option<String>,
}

/// The dollars for tokens that are sent to a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SendingCost {
    /// If the provider has none of them in its cache.
    pub fresh: f64,
    /// If it has all of them there.
    pub cached: f64,
}

/// A model that a task asks for.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskedModel<'a> {
    /// The provider, if it is named apart.
    pub provider: Option<&'a str>,
    /// The model, or a pattern for one.
    pub model: Option<&'a str>,
}

impl ModelCatalogue {
    /// Reads `models.json`. The models of an installed pi are read when a provider is asked for.
    pub fn read(surroundings: Surroundings) -> Self {
        let installed = InstalledPi::find(&surroundings.variables, &surroundings.cwd);
        Self {
            known_models: KnownModels::load(&surroundings.agent_dir, installed),
            surroundings,
        }
    }

    /// Returns why `models.json` is of no use to any kind of child.
    pub fn unreadable(&self) -> Option<&str> {
        match &self.known_models.problem {
            Some(ModelsFileError::NotJson(why)) => Some(why),
            Some(ModelsFileError::WrongShape(_)) | None => None,
        }
    }

    /// Returns why `models.json` is of no use to the embedded agent. A pi may understand it.
    pub fn misunderstood(&self) -> Option<&str> {
        match &self.known_models.problem {
            Some(ModelsFileError::WrongShape(why)) => Some(why),
            Some(ModelsFileError::NotJson(_)) | None => None,
        }
    }

    /// Returns whether `models.json` is of no use to the embedded agent.
    pub fn is_broken(&self) -> bool {
        self.known_models.problem.is_some()
    }

    /// Returns the warnings about `models.json`.
    pub fn warnings(&self) -> &[String] {
        &self.known_models.warnings
    }

    /// Returns whether a provider is built in or listed.
    pub fn knows_provider(&self, provider: &str) -> bool {
        self.known_models.knows_provider(provider)
    }

    /// Returns the number of tokens that a model reads at most, if a file says so.
    pub fn context_window(&self, provider: &str, model: &str) -> Option<u64> {
        let mut models = self.known_models.models_of(provider).into_iter();
        models.find(|known| known.id == model)?.context_window
    }

    /// Returns whether the price of a model is known; `None` if no model is asked for. A price of 0
    /// is a price.
    pub fn knows_price(&self, asked: AskedModel<'_>) -> Option<bool> {
        if asked.is_scripted() {
            return Some(true);
        }
        asked.provider.or(asked.model)?;
        let keyring = self.keyring();
        let chosen = choose(&Wanted::from(asked), &self.known_models, |provider| {
            asked.provider == Some(provider) || keyring.seems_to_have(provider)
        });
        let model = chosen.ok().and_then(|choice| choice.model);
        Some(model.is_some_and(|model| model.cost.is_some()))
    }

    /// Returns the cost of sending this many tokens to a model; `None` if its price is not known.
    pub fn sending_cost(&self, asked: AskedModel<'_>, tokens: u64) -> Option<SendingCost> {
        let price = self.choose(asked).ok()?.model?.cost?;
        let cost = |usage: Usage| usage.priced(Some(&price)).cost.map(|cost| cost.total);
        Some(SendingCost {
            fresh: cost(Usage {
                input: tokens,
                ..Usage::default()
            })?,
            cached: cost(Usage {
                cache_read: tokens,
                ..Usage::default()
            })?,
        })
    }

    /// Returns whether a model costs more than another for a token in or out; `None` if a price is not
    /// known.
    pub fn is_dearer(&self, asked: AskedModel<'_>, than: AskedModel<'_>) -> Option<bool> {
        let price = |asked| self.choose(asked).ok()?.model?.cost;
        let (one, other) = (price(asked)?, price(than)?);
        Some(one.input > other.input || one.output > other.output)
    }

    /// Suggests the provider that was probably meant by an unknown name; `None` if no name is
    /// similar.
    pub fn unknown_provider(&self, name: &str) -> Option<String> {
        let meant = self.known_models.nearest_provider(name)?;
        let error = ChoiceError::UnknownProvider {
            provider: name.to_owned(),
            meant: Some(meant),
        };
        Some(error.to_string())
    }

    /// Suggests a correction for a misspelt model: of its provider, or of its id if the models of
    /// the provider are known. A model without a provider depends on keys, so it gets no
    /// suggestion.
    pub fn misspelt(&self, asked: AskedModel<'_>) -> Option<String> {
        let of_name = || Some(asked.model?.split_once('/')?.0);
        let provider = asked.provider.or_else(of_name)?;
        if asked.is_scripted() || self.known_models.problem.is_some() {
            return None;
        }
        if !self.knows_provider(provider) {
            return self.unknown_provider(provider);
        }
        self.check(asked).ok().flatten()
    }

    /// Checks the model that a task asks the embedded agent for. Returns a warning, or the reason
    /// why the model cannot be asked.
    pub fn check(&self, asked: AskedModel<'_>) -> Result<Option<String>, String> {
        if asked.is_scripted() {
            return Ok(None);
        }
        self.choose(asked).map(|choice| choice.warning)
    }

    /// Finds the one model that a name or a pattern means. Fails with the reason why there is none.
    pub fn find(&self, asked: AskedModel<'_>) -> Result<FoundModel, String> {
        let choice = self.choose(asked)?;
        let model = choice.model.ok_or("there is no model of that name")?;
        Ok(FoundModel {
            model: ModelName {
                provider: model.provider,
                id: model.id,
            },
            thinking: choice.thinking,
            warning: choice.warning,
        })
    }

    fn choose(&self, asked: AskedModel<'_>) -> Result<Choice, String> {
        let wanted = Wanted::from(asked);
        if let Some(problem) = &self.known_models.problem
            && !asked.is_scripted()
        {
            return Err(problem.to_string());
        }
        let keyring = self.keyring();
        choose(&wanted, &self.known_models, |provider| {
            asked.provider == Some(provider) || keyring.seems_to_have(provider)
        })
        .map_err(|error| error.to_string())
    }

    pub(super) fn keyring(&self) -> Keyring<'_> {
        Keyring {
            given: None,
            known_models: &self.known_models,
            agent_dir: &self.surroundings.agent_dir,
            variables: &self.surroundings.variables,
        }
    }
}

impl AskedModel<'_> {
    /// Returns whether a script is asked for, which no file lists.
    pub fn is_scripted(self) -> bool {
        Wanted::from(self).is_scripted()
    }
}

impl From<AskedModel<'_>> for Wanted {
    fn from(asked: AskedModel<'_>) -> Self {
        Self {
            provider: asked.provider.map(str::to_owned),
            model: asked.model.map(str::to_owned),
            ..Self::default()
        }
    }
}
