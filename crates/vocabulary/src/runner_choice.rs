//! The kind of child that a person, a definition or a program wishes for.

use serde::{Deserialize, Serialize};

use crate::{OtherAgent, Runner};

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
    /// An agent of others.
    #[serde(untagged)]
    Bridge(OtherAgent),
}

impl RunnerChoice {
    /// All choices.
    pub const ALL: [Self; 10] = [
        Self::Auto,
        Self::Pi,
        Self::Embedded,
        Self::Bridge(OtherAgent::Claude),
        Self::Bridge(OtherAgent::Codex),
        Self::Bridge(OtherAgent::Gemini),
        Self::Bridge(OtherAgent::Copilot),
        Self::Bridge(OtherAgent::Opencode),
        Self::Bridge(OtherAgent::Qwen),
        Self::Bridge(OtherAgent::Acp),
    ];

    /// Returns the kind that is meant where nobody looks for the programs.
    pub fn usual(self) -> Runner {
        match self {
            Self::Auto | Self::Pi => Runner::Pi,
            Self::Embedded => Runner::Embedded,
            Self::Bridge(agent) => Runner::Bridge(agent),
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
            Self::Bridge(agent) => agent.as_str(),
        }
    }
}
