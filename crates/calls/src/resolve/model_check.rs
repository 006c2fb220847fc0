//! Checks the model of a task before anything starts, as far as files show it.
//!
//! The embedded agent knows no more than the files do, so a model that they do not know is refused
//! here. A pi may have providers of its extensions: for a pi a doubt is a warning, and pi itself
//! refuses.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use pi_subagents_agent::{AskedModel, ModelCatalogue, Surroundings};
use pi_subagents_vocabulary::{Advice, Definition, Field, ModelChoice, Refusal, Runner};

use super::definition::Unusable;
use super::foreign_model::{ForeignModel, no_model as no_model_for};
use super::model::{ChosenModel, provider_of};
use crate::caller::Caller;
use pi_subagents_ground::error::CommandError;

/// The checks of one call; `models.json` is read once.
pub(super) struct ModelChecks<'a> {
    pub(super) caller: &'a Caller,
    catalogue: OnceCell<ModelCatalogue>,
}

/// A model that was named in place of the caller.
pub(super) struct NamedModel {
    pub(super) model: ChosenModel,
    /// Says which model was named, if one was.
    pub(super) remark: Option<String>,
}

impl<'a> ModelChecks<'a> {
    pub(super) fn new(caller: &'a Caller) -> Self {
        Self {
            caller,
            catalogue: OnceCell::new(),
        }
    }

    /// Returns the problems of `models.json`, if a task needs the file.
    pub(super) fn file_warnings(&self) -> &[String] {
        self.catalogue
            .get()
            .map_or(&[][..], ModelCatalogue::warnings)
    }

    /// Checks the model of a task. Returns warnings, or the reason why there will be no run.
    /// `definition` is the definition that chose the model, if one did.
    pub(super) fn check(
        &self,
        chosen: &ChosenModel,
        runner: Runner,
        definition: Option<&Definition>,
    ) -> Result<Vec<String>, Unusable> {
        let asked = asked(&chosen.choice);
        if asked.is_scripted() {
            return Ok(Vec::new());
        }
        let catalogue = self.catalogue();
        if let Some(why) = catalogue.unreadable() {
            return Err(unusable_file(why));
        }
        match (runner.uses_our_models(), catalogue.misunderstood()) {
            (true, Some(why)) => Err(unusable_file(why)),
            (true, None) => self.check_embedded(asked, definition),
            (false, why) => {
                let why = why.map(str::to_owned);
                Ok(why.into_iter().chain(self.doubt(&chosen.choice)).collect())
            }
        }
    }

    fn check_embedded(
        &self,
        asked: AskedModel<'_>,
        definition: Option<&Definition>,
    ) -> Result<Vec<String>, Unusable> {
        if asked.provider.is_none() && asked.model.is_none() {
            // Its session or its settings may have a model. If not, the child says so itself.
            return Ok(Vec::new());
        }
        match self.catalogue().check(asked) {
            Ok(warning) => Ok(warning.into_iter().collect()),
            Err(message) => Err(Unusable::Task(Refusal {
                message: match definition {
                    Some(definition) => format!("{}: {message}", model_place(definition)),
                    None => message,
                },
            })),
        }
    }

    /// Finds the model of a definition whose file is of another tool. The names of models in such
    /// files are those of its tool.
    pub(super) fn translated<'d>(
        &self,
        definition: &'d Definition,
        aliases: &BTreeMap<String, String>,
    ) -> Result<Cow<'d, Definition>, Unusable> {
        if !definition.dialect.is_foreign() || self.is_listed_by_caller(definition) {
            return Ok(Cow::Borrowed(definition));
        }
        let model = match ForeignModel::of(definition, aliases, self.catalogue()) {
            ForeignModel::Inherited(_) => None,
            ForeignModel::Named(model, _) => Some(model),
            ForeignModel::Missing => return Err(Unusable::Task(no_model_for(definition))),
        };
        Ok(Cow::Owned(Definition {
            model,
            ..definition.clone()
        }))
    }

    /// Returns whether the calling pi has the model under the name in a file.
    fn is_listed_by_caller(&self, definition: &Definition) -> bool {
        let Some((pi, model)) = self.caller.pi.as_ref().zip(definition.model.as_ref()) else {
            return false;
        };
        let mut models = pi.models.iter();
        models
            .any(|known| known == model || known.split_once('/').is_some_and(|(_, id)| id == model))
    }

    /// Suggests the provider that was probably meant by a name that neither we nor the calling pi
    /// know.
    fn doubt(&self, choice: &ModelChoice) -> Option<String> {
        let provider = provider_of(choice)?;
        if self.is_known(provider) {
            return None;
        }
        self.catalogue().unknown_provider(provider)
    }

    /// Names the model of a new session where neither the caller nor the settings name one, because
    /// the embedded agent has no default of its own; returns it with a sentence that says so. Fails if
    /// there is no model to ask.
    pub(super) fn name_default(
        &self,
        chosen: ChosenModel,
        default: Option<&str>,
        runner: Runner,
    ) -> Result<NamedModel, Unusable> {
        let AskedModel { provider, model } = asked(&chosen.choice);
        let is_open = provider.is_none() && model.is_none() && default.is_none();
        let catalogue = self.catalogue();
        if runner != Runner::Embedded || !is_open || catalogue.is_broken() {
            return Ok(NamedModel {
                model: chosen,
                remark: None,
            });
        }
        let found = catalogue
            .default_model()
            .ok_or_else(|| no_model(&catalogue.providers_without_default()))?;
        Ok(NamedModel {
            model: chosen.at(&found.provider, &found.model),
            remark: Some(format!("no model was named, so {} is asked", found.name())),
        })
    }

    /// Names the default model of the settings if its provider is unknown: a pi that chooses by
    /// itself would ask another provider without a word, and a pi that gets the name refuses it.
    pub(super) fn insist_on_default(
        &self,
        chosen: ChosenModel,
        default: Option<&str>,
        runner: Runner,
    ) -> ChosenModel {
        let AskedModel { provider, model } = asked(&chosen.choice);
        if runner.uses_our_models() || provider.is_some() || model.is_some() {
            return chosen;
        }
        match default.and_then(|model| model.split_once('/')) {
            Some((provider, id)) if !self.is_known(provider) => chosen.at(provider, id),
            Some(_) | None => chosen,
        }
    }

    /// Returns the name of a model, or of the default in its place, if it has no known price.
    pub(super) fn unpriced(&self, choice: &ModelChoice, default: Option<&str>) -> Option<String> {
        let AskedModel { provider, model } = asked(choice);
        let asked = AskedModel {
            provider,
            model: model.or(if provider.is_none() { default } else { None }),
        };
        self.unpriced_model(asked)
    }

    /// Returns the name of a model that has no known price.
    pub(super) fn unpriced_model(&self, asked: AskedModel<'_>) -> Option<String> {
        let is_priced = self.catalogue().knows_price(asked)?;
        let names = [asked.provider, asked.model].into_iter().flatten();
        (!is_priced).then(|| names.collect::<Vec<_>>().join("/"))
    }

    fn is_known(&self, provider: &str) -> bool {
        let of_caller = self.caller.pi.as_ref();
        let mut of_caller = of_caller.into_iter().flat_map(|pi| &pi.models);
        let is_its = |model: &String| model.split_once('/').is_some_and(|(of, _)| of == provider);
        of_caller.any(is_its) || self.catalogue().knows_provider(provider)
    }

    pub(super) fn catalogue(&self) -> &ModelCatalogue {
        let places = &self.caller.places;
        self.catalogue
            .get_or_init(|| ModelCatalogue::read(Surroundings::from(places)))
    }
}

pub(super) fn asked(choice: &ModelChoice) -> AskedModel<'_> {
    match choice {
        ModelChoice::Inherit => AskedModel::default(),
        ModelChoice::Named {
            provider, model, ..
        } => AskedModel {
            provider: provider.as_deref(),
            model: model.as_deref(),
        },
    }
}

/// Fails the call, and says how to get a model. Providers with a key but without a default are named.
fn no_model(without_default: &[String]) -> Unusable {
    let reason = match without_default {
        [] => "no provider has a key".to_owned(),
        names => format!(
            "{} has a key, but the embedded agent has no default model for it",
            names.join(", ")
        ),
    };
    let error = CommandError::usage(format!(
        "no model can be asked: {reason}, and no model server answers on this machine"
    ));
    let error = error.hint(
        "Set the key of a provider, for example with: export ANTHROPIC_API_KEY=sk-… (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY).",
    );
    let error = error.advise(
        "",
        Advice::Models,
        " lists all providers with their variables.",
    );
    Unusable::Call(error.advise("", Advice::Tour, " shows the program without a key."))
}

/// Fails the call: without that file a prompt could go to another server than its user chose.
fn unusable_file(why: &str) -> Unusable {
    Unusable::Call(CommandError::usage(why).hint(
        "Nothing was started, because without that file the request might go to another server than you chose. Fix it and try again.",
    ))
}

/// Returns where a definition names its provider, or else its model.
pub fn model_place(definition: &Definition) -> String {
    let field = match definition.provider {
        Some(_) => Field::Provider,
        None => Field::Model,
    };
    definition.place_of(field)
}
