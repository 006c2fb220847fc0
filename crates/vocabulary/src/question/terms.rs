//! Whether a run may ask, and whom.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Answerer;
use crate::seconds;

/// Whom the model of a run may ask with its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QuestionChoice {
    /// The model that started the run, or a person.
    #[default]
    Parent,
    /// A person only.
    Person,
    /// Nobody: it does not have the tool.
    None,
}

impl QuestionChoice {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Parent, Self::Person, Self::None];

    /// Returns the word for this choice.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parent => "parent",
            Self::Person => "person",
            Self::None => "none",
        }
    }

    /// Returns the choice with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.as_str() == word)
    }
}

/// Who answers the dialogs of a child's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionChoice {
    /// A person only.
    #[default]
    Person,
    /// The model that started the run, or a person.
    Parent,
}

impl PermissionChoice {
    /// All choices.
    pub const ALL: [Self; 2] = [Self::Person, Self::Parent];

    /// Returns the word for this choice.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Parent => "parent",
        }
    }

    /// Returns the choice with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.as_str() == word)
    }
}

/// Those who see the questions of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Answerers {
    /// True if a person sees them and can answer.
    pub person: bool,
    /// True if the model that called gets them and can answer.
    pub model: bool,
}

/// What a run may ask, for as long as it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct QuestionTerms {
    /// Who answers the tool of the model; it does not have the tool if there is nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<Answerer>,
    /// Who answers the dialogs of extensions; they are cancelled if there is nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialogs: Option<Answerer>,
    /// The time for which it waits before it is parked; for ever if there is none.
    #[serde(with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    pub park_after: Option<Duration>,
}

impl QuestionTerms {
    /// Returns the terms of a run with this audience.
    pub fn of(asks: QuestionChoice, dialogs: PermissionChoice, audience: Answerers) -> Self {
        let person = || audience.person.then_some(Answerer::Person);
        let parent = || (audience.person || audience.model).then_some(Answerer::Parent);
        Self {
            asks: match asks {
                QuestionChoice::Parent => parent(),
                QuestionChoice::Person => person(),
                QuestionChoice::None => None,
            },
            dialogs: match dialogs {
                PermissionChoice::Person => person(),
                PermissionChoice::Parent => parent(),
            },
            park_after: None,
        }
    }

    /// Returns the same terms for runs that are parked after this time.
    #[must_use]
    pub fn parked_after(self, park_after: Option<Duration>) -> Self {
        let may_ask = self.asks.is_some() || self.dialogs.is_some();
        Self {
            park_after: park_after.filter(|_| may_ask),
            ..self
        }
    }

    /// Returns whether nothing may be asked.
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use super::{PermissionChoice as Permission, QuestionChoice as Choice};

    #[test]
    fn a_run_asks_only_where_somebody_may_answer() {
        let of = |asks, dialogs, person, model| {
            let terms = QuestionTerms::of(asks, dialogs, Answerers { person, model });
            (terms.asks, terms.dialogs)
        };
        let (parent, person) = (Some(Answerer::Parent), Some(Answerer::Person));
        for (choice, permission, at_door, model, expected) in [
            (
                Choice::Parent,
                Permission::Person,
                false,
                false,
                (None, None),
            ),
            (
                Choice::Parent,
                Permission::Person,
                true,
                false,
                (parent, person),
            ),
            (
                Choice::Parent,
                Permission::Person,
                false,
                true,
                (parent, None),
            ),
            (
                Choice::Person,
                Permission::Person,
                false,
                true,
                (None, None),
            ),
            (
                Choice::Person,
                Permission::Parent,
                true,
                true,
                (person, parent),
            ),
            (Choice::None, Permission::Parent, true, true, (None, parent)),
        ] {
            assert_eq!(of(choice, permission, at_door, model), expected);
        }
    }
}
