//! Finds the model that a task asks for.

use pi_subagents_vocabulary::{Definition, Dialect, ModelChoice, Refusal, Runner, ThinkingLevel};

use crate::caller::CallingPi;

/// The model of a task, as it was asked for and as it is passed to the child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChosenModel {
    pub(crate) choice: ModelChoice,
    /// The name in the call or the definition, or the calling pi's name for its own model.
    pub(crate) requested: Option<String>,
    /// The name as provider/id, if it is known.
    pub(crate) resolved: Option<String>,
}

/// The sources from which the model of a task is chosen.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    /// The model that the call names.
    pub(super) wished: Option<&'a str>,
    /// How much the model thinks, if the call says so.
    pub(super) thinking: Option<ThinkingLevel>,
    pub(super) definition: Option<&'a Definition>,
    /// The pi that calls.
    pub(super) pi: Option<&'a CallingPi>,
    /// The default model of children, as provider/id, if one is set.
    pub(super) default_model: Option<&'a str>,
    /// The kind of child that is to do the work.
    pub(super) runner: Runner,
}

impl ChosenModel {
    /// Chooses the wished model, else the definition's, else by the rule of its dialect: a prompt
    /// asks the caller's own model, a preset must name a model, and otherwise the child has its
    /// default.
    pub(super) fn choose(sources: Sources<'_>) -> Result<Self, Refusal> {
        let Sources {
            wished,
            definition,
            pi,
            ..
        } = sources;
        let thinking = definition.and_then(|definition| definition.thinking);
        let thinking = sources.thinking.or(thinking);
        let named = |provider, model| {
            // The level of the call counts, also before the one in a name.
            let model = match sources.thinking {
                Some(_) => without_level(model).0,
                None => model,
            };
            Self::named(
                provider,
                model,
                thinking,
                pi.map_or(&[][..], |pi| &pi.models),
            )
        };
        let provider = definition.and_then(|definition| definition.provider.as_deref());
        let of_definition = definition.and_then(|definition| definition.model.as_deref());
        if let Some(model) = wished {
            return Ok(named(None, model));
        }
        if let Some(model) = of_definition {
            return Ok(named(provider, model));
        }
        if let (Some(definition), Some(provider)) = (definition, provider) {
            return Self::of_provider(definition, provider, sources);
        }
        if sources.runner.other_agent().is_some() {
            // It has a model of its own.
            return Ok(Self::left_to_the_child(None, thinking));
        }
        let of_caller = pi.and_then(|pi| pi.model.as_deref());
        match (definition.map(|definition| definition.dialect), of_caller) {
            (Some(_), Some(model)) if definition.is_some_and(Definition::is_built_in) => {
                Ok(named(None, model))
            }
            (Some(Dialect::Preset), _) => {
                Err(no_model(definition.map_or("", |preset| &preset.name)))
            }
            (Some(dialect), Some(model)) if dialect == Dialect::Prompt || dialect.is_foreign() => {
                Ok(named(None, model))
            }
            _ => Ok(Self::left_to_the_child(None, thinking)),
        }
    }

    /// Chooses a model of a provider: the caller's or the default model if it belongs to that
    /// provider, else the first that the caller's pi lists. The embedded agent chooses by itself;
    /// pi refuses a provider alone.
    fn of_provider(
        definition: &Definition,
        provider: &str,
        sources: Sources<'_>,
    ) -> Result<Self, Refusal> {
        let models = sources.pi.map_or(&[][..], |pi| &pi.models);
        let of_caller = sources.pi.and_then(|pi| pi.model.as_deref());
        let mut known = of_caller
            .into_iter()
            .chain(sources.default_model)
            .chain(models.iter().map(String::as_str));
        let id = known.find_map(|model| model.strip_prefix(provider)?.strip_prefix('/'));
        let thinking = sources.thinking.or(definition.thinking);
        match (id, sources.runner) {
            (Some(id), _) => Ok(Self::named(Some(provider), id, thinking, models)),
            (None, runner) if runner.uses_our_models() => {
                Ok(Self::left_to_the_child(Some(provider), thinking))
            }
            (None, _) => Err(no_model_of(definition, provider)),
        }
    }

    fn named(
        provider: Option<&str>,
        model: &str,
        thinking: Option<ThinkingLevel>,
        models: &[String],
    ) -> Self {
        let (id, level) = without_level(model);
        let requested = with_provider(provider, model);
        let resolved = resolve(&with_provider(provider, id), models).map_or_else(
            || requested.clone(),
            |found| match level {
                Some(level) => format!("{found}:{}", level.as_str()),
                None => found.to_owned(),
            },
        );
        Self {
            choice: ModelChoice::Named {
                provider: provider.map(str::to_owned),
                model: Some(match provider {
                    Some(_) => model.to_owned(),
                    None => resolved.clone(),
                }),
                // A flag would beat the level in the pattern.
                thinking: thinking.filter(|_| level.is_none()),
            },
            requested: Some(requested),
            resolved: Some(resolved),
        }
    }

    /// Takes the model of an order, which its caller has chosen.
    pub(super) fn ordered(choice: ModelChoice) -> Self {
        let resolved = match &choice {
            ModelChoice::Inherit => None,
            ModelChoice::Named {
                provider, model, ..
            } => model
                .as_deref()
                .map(|model| with_provider(provider.as_deref(), model)),
        };
        Self {
            choice,
            requested: None,
            resolved,
        }
    }

    /// Names the default model of the caller, if the choice is left to the child.
    pub(super) fn or_default(self, default: Option<&str>) -> Self {
        let (provider, model, thinking) = match &self.choice {
            ModelChoice::Inherit => (None, None, None),
            ModelChoice::Named {
                provider,
                model,
                thinking,
            } => (provider.as_ref(), model.as_ref(), *thinking),
        };
        match default.map(|default| default.split_once('/').ok_or(default)) {
            Some(_) if provider.is_some() || model.is_some() => self,
            Some(Ok((provider, id))) => self.at(provider, id),
            Some(Err(id)) => Self::named(None, id, thinking, &[]),
            None => self,
        }
    }

    /// Names a model in place of the child's choice.
    pub(super) fn at(self, provider: &str, id: &str) -> Self {
        let thinking = match self.choice {
            ModelChoice::Named { thinking, .. } => thinking,
            ModelChoice::Inherit => None,
        };
        Self::named(Some(provider), id, thinking, &[])
    }

    fn left_to_the_child(provider: Option<&str>, thinking: Option<ThinkingLevel>) -> Self {
        let choice = match (provider, thinking) {
            (None, None) => ModelChoice::Inherit,
            (provider, thinking) => ModelChoice::Named {
                provider: provider.map(str::to_owned),
                model: None,
                thinking,
            },
        };
        Self {
            choice,
            requested: None,
            resolved: None,
        }
    }
}

/// Finds a model by its whole name, or by an id that only one provider has. A name that matches
/// nothing is left to the child, which knows patterns and may know more models.
fn resolve<'a>(name: &str, models: &'a [String]) -> Option<&'a str> {
    if let Some(exact) = models.iter().find(|model| *model == name) {
        return Some(exact);
    }
    let mut of_id = models
        .iter()
        .filter(|model| model.split_once('/').is_some_and(|(_, id)| id == name));
    match (of_id.next(), of_id.next()) {
        (Some(only), None) => Some(only),
        (Some(_) | None, _) => None,
    }
}

/// Returns the provider of a model, as far as its name has one.
pub(crate) fn provider_of(model: &ModelChoice) -> Option<&str> {
    let ModelChoice::Named {
        provider, model, ..
    } = model
    else {
        return None;
    };
    let of_pattern = || Some(model.as_deref()?.split_once('/')?.0);
    provider.as_deref().or_else(of_pattern)
}

/// Splits a model into its pattern and how much it may think, if it ends with that.
fn without_level(model: &str) -> (&str, Option<ThinkingLevel>) {
    let split = model.rsplit_once(':');
    match split.and_then(|(id, word)| Some((id, ThinkingLevel::from_word(word)?))) {
        Some((id, level)) => (id, Some(level)),
        None => (model, None),
    }
}

fn with_provider(provider: Option<&str>, model: &str) -> String {
    match provider {
        Some(provider) => format!("{provider}/{model}"),
        None => model.to_owned(),
    }
}

fn no_model(preset: &str) -> Refusal {
    Refusal {
        message: format!(
            "no model resolved: the call names none and preset \"{preset}\" has none. Name one in the call (\"model\", or --model), or write \"model:\" into the preset."
        ),
    }
}

fn no_model_of(definition: &Definition, provider: &str) -> Refusal {
    Refusal {
        message: format!(
            "{} \"{}\" names the provider \"{provider}\" and no model, and the default model is not of that provider. Add \"model: ID\" to {}.",
            definition.dialect.title(),
            definition.name,
            definition.file.display()
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use pi_subagents_vocabulary::Scope;
    use pretty_assertions::assert_eq;

    use super::*;

    fn pi(model: Option<&str>) -> CallingPi {
        CallingPi {
            program: PathBuf::from("pi"),
            arguments: Vec::new(),
            version: "0.87.1".to_owned(),
            model: model.map(str::to_owned),
            models: ["a/opus", "a/haiku", "b/haiku", "router/x/deep"]
                .map(str::to_owned)
                .to_vec(),
            active_tools: Vec::new(),
            all_tools: Vec::new(),
            skills: Vec::new(),
            session: "s".to_owned(),
        }
    }

    fn definition(dialect: Dialect, model: Option<&str>) -> Definition {
        Definition {
            model: model.map(str::to_owned),
            ..Definition::new("scout", dialect, Scope::Global, PathBuf::from("scout.md"))
        }
    }

    fn choose_from(
        wished: Option<&str>,
        definition: Option<&Definition>,
        pi: Option<&CallingPi>,
    ) -> Result<ChosenModel, Refusal> {
        ChosenModel::choose(Sources {
            wished,
            thinking: None,
            definition,
            pi,
            default_model: Some("b/haiku"),
            runner: Runner::Pi,
        })
    }

    /// Returns the requested and the chosen model.
    fn names(chosen: Result<ChosenModel, Refusal>) -> String {
        match chosen {
            Ok(chosen) => format!(
                "{} -> {}",
                chosen.requested.as_deref().unwrap_or("-"),
                chosen.resolved.as_deref().unwrap_or("-")
            ),
            Err(refusal) => refusal.message,
        }
    }

    #[test]
    fn the_call_comes_before_the_definition_and_that_before_the_caller() {
        let caller = pi(Some("a/opus"));
        let choose = |wished, definition: &Definition| {
            names(choose_from(wished, Some(definition), Some(&caller)))
        };
        let with = |dialect| definition(dialect, Some("b/haiku"));
        let without = |dialect| definition(dialect, None);
        assert_eq!(
            choose(Some("opus"), &with(Dialect::Preset)),
            "opus -> a/opus"
        );
        assert_eq!(choose(None, &with(Dialect::Preset)), "b/haiku -> b/haiku");
        assert_eq!(choose(None, &without(Dialect::Prompt)), "a/opus -> a/opus");
        assert_eq!(choose(None, &without(Dialect::Profile)), "- -> -");
        assert_eq!(
            choose(None, &without(Dialect::Preset)),
            "no model resolved: the call names none and preset \"scout\" has none. Name one in the call (\"model\", or --model), or write \"model:\" into the preset."
        );
        let alone = choose_from(None, Some(&without(Dialect::Prompt)), None);
        assert_eq!(alone.unwrap().choice, ModelChoice::Inherit);
    }

    #[test]
    fn a_provider_alone_means_a_model_of_it_that_is_known() {
        let of = |provider: &str, caller: Option<&CallingPi>, runner| {
            let definition = Definition {
                provider: Some(provider.to_owned()),
                ..definition(Dialect::Profile, None)
            };
            names(ChosenModel::choose(Sources {
                wished: None,
                thinking: None,
                definition: Some(&definition),
                pi: caller,
                default_model: Some("b/haiku"),
                runner,
            }))
        };
        let caller = pi(Some("a/haiku"));
        assert_eq!(of("a", Some(&caller), Runner::Pi), "a/haiku -> a/haiku");
        assert_eq!(of("b", Some(&caller), Runner::Pi), "b/haiku -> b/haiku");
        assert_eq!(of("b", None, Runner::Pi), "b/haiku -> b/haiku");
        assert_eq!(
            of("router", Some(&caller), Runner::Pi),
            "router/x/deep -> router/x/deep"
        );
        assert_eq!(of("a", None, Runner::Embedded), "- -> -");
        assert_eq!(
            of("a", None, Runner::Pi),
            "Profile \"scout\" names the provider \"a\" and no model, and the default model is not of that provider. Add \"model: ID\" to scout.md."
        );
    }

    #[test]
    fn a_name_is_resolved_only_when_it_means_one_model() {
        let caller = pi(None);
        let choose = |wished: &str| names(choose_from(Some(wished), None, Some(&caller)));
        assert_eq!(choose("a/haiku"), "a/haiku -> a/haiku");
        assert_eq!(choose("haiku"), "haiku -> haiku");
        assert_eq!(choose("x/deep"), "x/deep -> router/x/deep");
        assert_eq!(choose("opus:high"), "opus:high -> a/opus:high");
        assert_eq!(choose("opus:beta"), "opus:beta -> opus:beta");
        assert_eq!(choose("sonnet"), "sonnet -> sonnet");
    }

    #[test]
    fn the_child_thinks_as_the_pattern_says_else_as_the_definition_does() {
        let mut of_definition = definition(Dialect::Profile, Some("opus"));
        of_definition.provider = Some("a".to_owned());
        of_definition.thinking = Some(ThinkingLevel::High);
        let choice = |wished| {
            choose_from(wished, Some(&of_definition), Some(&pi(None)))
                .unwrap()
                .choice
        };
        let named = |provider: Option<&str>, model: &str, thinking| ModelChoice::Named {
            provider: provider.map(str::to_owned),
            model: Some(model.to_owned()),
            thinking,
        };
        let high = Some(ThinkingLevel::High);
        assert_eq!(choice(None), named(Some("a"), "opus", high));
        assert_eq!(choice(Some("x/deep")), named(None, "router/x/deep", high));
        assert_eq!(choice(Some("opus:low")), named(None, "a/opus:low", None));
        let max = Some(ThinkingLevel::Max);
        let with_option = |wished| {
            let caller = pi(None);
            let sources = Sources {
                wished,
                thinking: max,
                definition: Some(&of_definition),
                pi: Some(&caller),
                default_model: None,
                runner: Runner::Pi,
            };
            ChosenModel::choose(sources).unwrap().choice
        };
        assert_eq!(with_option(None), named(Some("a"), "opus", max));
        assert_eq!(with_option(Some("opus:low")), named(None, "a/opus", max));
    }
}
