//! The reason why no model can be chosen, with advice.

/// The reason why no model can be chosen.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChoiceError {
    #[error("There is no provider \"{provider}\"{}", meant_or(
        meant.as_deref(),
        ". Add it to models.json, or name one that is built in.",
    ))]
    UnknownProvider {
        provider: String,
        meant: Option<String>,
    },
    #[error("{place}: defaultProvider: {source}")]
    Default {
        /// The place in the settings that names it.
        place: String,
        source: Box<ChoiceError>,
    },
    #[error("Provider \"{0}\" has no listed model. Name one with --model.")]
    NoModel(String),
    #[error("Model \"{pattern}\" is not unique: {}.", matches.join(", "))]
    NotUnique {
        pattern: String,
        matches: Vec<String>,
    },
    #[error("There is no model \"{pattern}\"{}{}", meant_or(meant.as_deref(), &how_to_name(pattern)), known(near))]
    NotFound {
        pattern: String,
        meant: Option<String>,
        /// The names of models that can be asked, the most similar first.
        near: Vec<String>,
    },
}

/// Explains how to name a model that is not in any list.
fn how_to_name(pattern: &str) -> String {
    match pattern.split_once('/') {
        Some((provider, _)) => {
            format!(" and no provider \"{provider}\". List it in models.json, or name another one.")
        }
        None => ". Name it as provider/id, or list it in models.json.".to_owned(),
    }
}

/// Lists the models that can be asked: a model that calls cannot look them up.
fn known(near: &[String]) -> String {
    if near.is_empty() {
        return String::new();
    }
    format!(" Models that can be used here: {}.", near.join(", "))
}

/// Asks whether a similar name was meant, or gives other advice.
fn meant_or(meant: Option<&str>, advice: &str) -> String {
    match meant {
        Some(meant) => format!("; did you mean \"{meant}\"?"),
        None => advice.to_owned(),
    }
}
