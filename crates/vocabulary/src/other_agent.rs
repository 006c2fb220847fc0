//! The agents of others that can do the work of a run, over the Agent Client Protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An agent of others.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum OtherAgent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Copilot CLI.
    Copilot,
    /// opencode.
    Opencode,
    /// Qwen Code.
    Qwen,
    /// Any other agent that speaks the protocol; its definition names the command.
    Acp,
}

impl OtherAgent {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Copilot,
        Self::Opencode,
        Self::Qwen,
        Self::Acp,
    ];

    /// Reads the word for an agent.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.as_str() == word)
    }

    /// Returns the word for this agent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
            Self::Acp => "acp",
        }
    }

    /// Returns its name in a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Copilot => "Copilot CLI",
            Self::Opencode => "opencode",
            Self::Qwen => "Qwen Code",
            Self::Acp => "the agent",
        }
    }
}
