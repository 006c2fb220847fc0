//! The kind of child that a person, a definition or a program wishes for.

use serde::{Deserialize, Serialize};

use crate::Runner;

/// The wish for a kind of child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunnerChoice {
    /// Pi if it is there and new enough, else the embedded agent.
    Auto,
    /// Always pi.
    Pi,
    /// Always the embedded agent.
    Embedded,
}

impl RunnerChoice {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Pi, Self::Embedded];

    /// Returns the kind that is meant where nobody looks for the programs.
    pub fn usual(self) -> Runner {
        match self {
            Self::Auto | Self::Pi => Runner::Pi,
            Self::Embedded => Runner::Embedded,
        }
    }

    /// Reads the word for a choice.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.as_str() == word)
    }

    /// Returns the word for this choice.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Pi => "pi",
            Self::Embedded => "embedded",
        }
    }
}
