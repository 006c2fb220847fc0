//! From the user's words to one model: exact id, `provider/id`, a unique part of a name, each with
//! an optional `:thinking` at its end.

use pi_subagents_vocabulary::{ThinkingLevel, most_similar, nearest};

use super::choice_error::ChoiceError;
use super::default_model::default_by_key;
use super::{KnownModels, Model, SCRIPTED};

/// The number of models that an error lists.
const MOST_NEAR: usize = 10;

/// The model that the flags and settings ask for.
#[derive(Debug, Default, Clone)]
pub(crate) struct Wanted {
    pub(crate) provider: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) default_provider: Option<String>,
    pub(crate) default_model: Option<String>,
    /// The place in the settings that names the default provider.
    pub(crate) default_place: Option<String>,
}

impl Wanted {
    /// Returns whether a script is asked for, which no file lists.
    pub(crate) fn is_scripted(&self) -> bool {
        let names_script = |name: &String| {
            let rest = name.strip_prefix(SCRIPTED);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        match &self.provider {
            Some(provider) => provider == SCRIPTED,
            None => self.model.as_ref().is_some_and(names_script),
        }
    }
}

/// The model that was chosen.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Choice {
    /// None when nothing was asked for and nothing is configured.
    pub(crate) model: Option<Model>,
    /// From a `:level` at the end of the pattern.
    pub(crate) thinking: Option<ThinkingLevel>,
    /// This is true if nothing is known about the model but its name.
    pub(crate) is_unlisted: bool,
    /// A warning that the provider does not list this model, if its models are known, or that
    /// another name was probably meant.
    pub(crate) warning: Option<String>,
}

/// Finds the model that flags and settings ask for.
///
/// A bare name is looked for in `models.json` and among the models of `usable` providers.
pub(crate) fn choose(
    wanted: &Wanted,
    known_models: &KnownModels,
    usable: impl Fn(&str) -> bool,
) -> Result<Choice, ChoiceError> {
    match (&wanted.provider, &wanted.model) {
        (_, Some(pattern)) => by_pattern(pattern, wanted, known_models, usable),
        (Some(provider), None) => first_of(provider, wanted, known_models),
        (None, None) => by_default(wanted, known_models, usable),
    }
}

fn by_pattern(
    pattern: &str,
    wanted: &Wanted,
    known_models: &KnownModels,
    usable: impl Fn(&str) -> bool,
) -> Result<Choice, ChoiceError> {
    if let Some(provider) = &wanted.provider {
        let id = pattern
            .strip_prefix(&format!("{provider}/"))
            .unwrap_or(pattern);
        return of_provider(provider, id, known_models);
    }
    // A listed id may have a slash of its own, as the ids of OpenRouter do.
    if let Some(choice) = exact(pattern, wanted, &known_models.models()) {
        return Ok(choice);
    }
    match pattern.split_once('/') {
        Some((provider, id)) if provider == SCRIPTED || known_models.knows_provider(provider) => {
            of_provider(provider, id, known_models)
        }
        Some((provider, _)) => anywhere(pattern, wanted, &everywhere(known_models, usable))
            .map_err(|error| provider_or(error, provider, known_models)),
        None => match by_alias(pattern, wanted, known_models, &usable) {
            Some(choice) => Ok(choice),
            None => anywhere(pattern, wanted, &everywhere(known_models, &usable))
                .map_err(|error| meant_alias(error, known_models, usable)),
        },
    }
}

/// Suggests a short name that is similar to a name which matches nothing.
fn meant_alias(
    error: ChoiceError,
    known_models: &KnownModels,
    usable: impl Fn(&str) -> bool,
) -> ChoiceError {
    let ChoiceError::NotFound {
        pattern,
        meant: None,
        near,
    } = error
    else {
        return error;
    };
    let providers = known_models.providers_in_order().into_iter();
    let aliases = providers.filter(|provider| usable(provider));
    let aliases = aliases.flat_map(|provider| known_models.aliases_of(&provider).into_keys());
    let aliases: Vec<String> = aliases.collect();
    let (name, _) = readings(&pattern).last().unwrap_or((&pattern, None));
    let meant = nearest(name, aliases.iter().map(String::as_str)).map(str::to_owned);
    ChoiceError::NotFound {
        pattern,
        meant,
        near,
    }
}

/// Chooses the model that a short name stands for: of the default provider if it has a key, else of
/// the first provider with a key.
pub(super) fn by_alias(
    pattern: &str,
    wanted: &Wanted,
    known_models: &KnownModels,
    usable: impl Fn(&str) -> bool,
) -> Option<Choice> {
    let in_order = known_models.providers_in_order();
    let preferred = wanted.default_provider.iter();
    let mut usable = preferred.chain(&in_order).filter(|name| usable(name));
    usable.find_map(|provider| alias_at(provider, pattern, known_models))
}

fn alias_at(provider: &str, pattern: &str, known_models: &KnownModels) -> Option<Choice> {
    readings(pattern).find_map(|(name, thinking)| {
        let model = known_models.alias_of(provider, name)?;
        Some(found(model, thinking))
    })
}

/// Blames the provider in a name that matches nothing, if a known provider has a similar name.
fn provider_or(error: ChoiceError, provider: &str, known_models: &KnownModels) -> ChoiceError {
    match (&error, known_models.nearest_provider(provider)) {
        (ChoiceError::NotFound { .. }, meant @ Some(_)) => ChoiceError::UnknownProvider {
            provider: provider.to_owned(),
            meant,
        },
        (_, _) => error,
    }
}

pub(super) fn everywhere(known_models: &KnownModels, usable: impl Fn(&str) -> bool) -> Vec<Model> {
    let mut models = known_models.models();
    let names = known_models.provider_names().into_iter();
    for provider in names.filter(|name| usable(name)) {
        for model in known_models.models_of(&provider) {
            if !models.contains(&model) {
                models.push(model);
            }
        }
    }
    models
}

fn exact(pattern: &str, wanted: &Wanted, models: &[Model]) -> Option<Choice> {
    let preferred = wanted.default_provider.as_deref();
    readings(pattern).find_map(|(id, thinking)| {
        let same = models.iter().filter(|model| model.id == id);
        let best = same.max_by_key(|model| Some(model.provider.as_str()) == preferred)?;
        Some(found(best.clone(), thinking))
    })
}

fn of_provider(
    provider: &str,
    pattern: &str,
    known_models: &KnownModels,
) -> Result<Choice, ChoiceError> {
    if provider == SCRIPTED {
        let (id, thinking) = readings(pattern).last().unwrap_or((pattern, None));
        return Ok(found(Model::scripted(id), thinking));
    }
    if !known_models.knows_provider(provider) {
        return Err(unknown_provider(provider, known_models));
    }
    let models = known_models.models_of(provider);
    for (id, thinking) in readings(pattern) {
        if let Some(model) = models.iter().find(|model| model.id == id) {
            return Ok(found(model.clone(), thinking));
        }
    }
    if let Some(choice) = alias_at(provider, pattern, known_models) {
        return Ok(choice);
    }
    for (part, thinking) in readings(pattern) {
        if let [model] = &matching(part, &models)[..] {
            return Ok(found_by_part(part, model, thinking));
        }
    }
    let (id, thinking) = readings(pattern).last().unwrap_or((pattern, None));
    Ok(Choice {
        is_unlisted: true,
        warning: (!models.is_empty()).then(|| not_listed(provider, id, &models)),
        ..found(known_models.unlisted(provider, id), thinking)
    })
}

fn unknown_provider(provider: &str, known_models: &KnownModels) -> ChoiceError {
    ChoiceError::UnknownProvider {
        provider: provider.to_owned(),
        meant: known_models.nearest_provider(provider),
    }
}

/// Warns of an id that is not among the models of its provider.
fn not_listed(provider: &str, id: &str, models: &[Model]) -> String {
    let meant = nearest(id, models.iter().map(|model| model.id.as_str()));
    let meant = meant.map_or(String::new(), |meant| {
        format!(". Did you mean \"{meant}\"?")
    });
    format!(
        "no model \"{id}\" of the provider \"{provider}\" is known; the id is sent as it is{meant}"
    )
}

fn anywhere(pattern: &str, wanted: &Wanted, models: &[Model]) -> Result<Choice, ChoiceError> {
    if let Some(choice) = exact(pattern, wanted, models) {
        return Ok(choice);
    }
    for (part, thinking) in readings(pattern) {
        match &matching(part, models)[..] {
            [] => {}
            [model] => return Ok(found_by_part(part, model, thinking)),
            several => {
                return Err(ChoiceError::NotUnique {
                    pattern: pattern.to_owned(),
                    matches: several.iter().take(10).map(full_name).collect(),
                });
            }
        }
    }
    let names: Vec<String> = models.iter().map(full_name).collect();
    let ids = models.iter().map(|model| model.id.as_str());
    let meant = nearest(pattern, ids.chain(names.iter().map(String::as_str)));
    let near = most_similar(pattern, names.iter().map(String::as_str), MOST_NEAR);
    Err(ChoiceError::NotFound {
        pattern: pattern.to_owned(),
        meant: meant.map(str::to_owned),
        near: near.into_iter().map(str::to_owned).collect(),
    })
}

fn matching(part: &str, models: &[Model]) -> Vec<Model> {
    let part = part.to_lowercase();
    let hits = |model: &&Model| {
        model.id.to_lowercase().contains(&part) || model.name.to_lowercase().contains(&part)
    };
    models.iter().filter(hits).cloned().collect()
}

/// Chooses the only model whose name has this part. A part that ends inside a word is more often a
/// mistake than an abbreviation, so the choice carries a warning.
fn found_by_part(part: &str, model: &Model, thinking: Option<ThinkingLevel>) -> Choice {
    let is_name = has_words(&model.id, part) || has_words(&model.name, part);
    let taken = full_name(model);
    Choice {
        warning: (!is_name).then(|| format!("no model is called \"{part}\"; \"{taken}\" is taken")),
        ..found(model.clone(), thinking)
    }
}

/// Returns whether a name has these words, with no letter or digit right beside them.
fn has_words(name: &str, words: &str) -> bool {
    let (name, words) = (name.to_lowercase(), words.to_lowercase());
    let mut places = name.match_indices(&words);
    places.any(|(start, found)| {
        let before = name[..start].chars().next_back();
        let behind = name[start + found.len()..].chars().next();
        [before, behind]
            .into_iter()
            .flatten()
            .all(|beside| !beside.is_alphanumeric())
    })
}

fn first_of(
    provider: &str,
    wanted: &Wanted,
    known_models: &KnownModels,
) -> Result<Choice, ChoiceError> {
    if wanted.default_provider.as_deref() == Some(provider)
        && let Some(model) = &wanted.default_model
    {
        return of_provider(provider, model, known_models);
    }
    match known_models.default_of(provider) {
        Some(model) => Ok(found(model, None)),
        None if known_models.knows_provider(provider) => {
            Err(ChoiceError::NoModel(provider.to_owned()))
        }
        None => Err(unknown_provider(provider, known_models)),
    }
}

/// Chooses without any word of the caller: the default of the settings, else the first model of
/// `models.json`, else the default of the first provider with a key.
fn by_default(
    wanted: &Wanted,
    known_models: &KnownModels,
    usable: impl Fn(&str) -> bool,
) -> Result<Choice, ChoiceError> {
    if let (Some(provider), Some(id)) = (&wanted.default_provider, &wanted.default_model) {
        // Another model than the user chose may be dear, or somebody else's.
        return of_provider(provider, id, known_models).map_err(|error| ChoiceError::Default {
            place: wanted.default_place.clone().unwrap_or_default(),
            source: Box::new(error),
        });
    }
    Ok(Choice {
        model: default_by_key(known_models, usable),
        ..Choice::default()
    })
}

/// Returns the two ways to read a pattern: as it is, and without a level at its end.
fn readings(pattern: &str) -> impl Iterator<Item = (&str, Option<ThinkingLevel>)> {
    let leveled = pattern.rsplit_once(':').and_then(|(id, level)| {
        let level = ThinkingLevel::from_word(level)?;
        Some((id, Some(level)))
    });
    std::iter::once((pattern, None)).chain(leveled)
}

fn found(model: Model, thinking: Option<ThinkingLevel>) -> Choice {
    Choice {
        model: Some(model),
        thinking,
        ..Choice::default()
    }
}

fn full_name(model: &Model) -> String {
    format!("{}/{}", model.provider, model.id)
}
