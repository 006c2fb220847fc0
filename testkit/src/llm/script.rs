//! Finds the turn that answers a request.

use serde::Deserialize;

use super::turn::Turn;

/// The rules of a server, asked in order; the first that matches and has a turn left answers.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Script {
    /// The rules.
    pub rules: Vec<Rule>,
}

/// A condition and the turns that answer it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    /// Text that the last words of the user must contain; results of tools are not his words.
    pub user: Option<String>,
    /// The name of the model.
    pub model: Option<String>,
    /// The turns, one for each request.
    pub turns: Vec<Turn>,
    /// True if the turns begin again when they are used up.
    #[serde(default)]
    pub repeat: bool,
}

impl Script {
    /// Makes a script without rules, which answers everything with status 500.
    pub fn new() -> Self {
        Self::default()
    }

    /// Plays the turns, each once, when the last words of the user contain `text`.
    #[must_use]
    pub fn on(self, text: &str, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.rule(Rule {
            user: Some(text.to_owned()),
            turns: turns.into_iter().collect(),
            ..Rule::default()
        })
    }

    /// Plays the turns over and over when the last words of the user contain `text`.
    #[must_use]
    pub fn on_every(self, text: &str, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.rule(Rule {
            user: Some(text.to_owned()),
            turns: turns.into_iter().collect(),
            repeat: true,
            ..Rule::default()
        })
    }

    /// Plays the turns over and over when the model has this name.
    #[must_use]
    pub fn on_model(self, model: &str, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.rule(Rule {
            model: Some(model.to_owned()),
            turns: turns.into_iter().collect(),
            repeat: true,
            ..Rule::default()
        })
    }

    /// Plays the turns, each once, for every request.
    #[must_use]
    pub fn then(self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.rule(Rule {
            turns: turns.into_iter().collect(),
            ..Rule::default()
        })
    }

    /// Plays the turns over and over, for every request.
    #[must_use]
    pub fn otherwise(self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.rule(Rule {
            turns: turns.into_iter().collect(),
            repeat: true,
            ..Rule::default()
        })
    }

    /// Adds a rule.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }
}

impl Rule {
    /// Returns whether the rule is about this request.
    pub(super) fn matches(&self, user: &str, model: &str) -> bool {
        self.user.as_deref().is_none_or(|text| user.contains(text))
            && self.model.as_deref().is_none_or(|name| name == model)
    }
}
