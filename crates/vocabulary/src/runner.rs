//! The kinds of child, and everything in which they differ. Nobody else matches on the kind: a third
//! one is a line in each function here, and a program that `calls` finds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RunnerChoice;

/// The kind of child that does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Runner {
    /// A real pi process.
    Pi,
    /// The agent inside our own binary.
    Embedded,
}

impl Runner {
    /// All kinds, the usual one first.
    pub const ALL: [Self; 2] = [Self::Pi, Self::Embedded];

    /// Reads the word for a runner; `None` for a word of a newer version.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|runner| runner.as_str() == word)
    }

    /// Returns the word for this runner.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::Embedded => "embedded",
        }
    }

    /// Returns its name in a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Self::Pi => "a pi process",
            Self::Embedded => "the embedded agent",
        }
    }

    /// Returns the choice that names it.
    pub fn choice(self) -> RunnerChoice {
        match self {
            Self::Pi => RunnerChoice::Pi,
            Self::Embedded => RunnerChoice::Embedded,
        }
    }

    /// Returns whether it loads extensions. Such a child may have tools that we do not know, gets
    /// what it has no flag for from an extension of ours, and runs code of a trusted project.
    pub fn loads_extensions(self) -> bool {
        match self {
            Self::Pi => true,
            Self::Embedded => false,
        }
    }

    /// Returns whether it has the flags that only we need, such as `--finalize` and `--run-dir`.
    pub fn has_our_flags(self) -> bool {
        match self {
            Self::Pi => false,
            Self::Embedded => true,
        }
    }

    /// Returns whether it reads the catalogue of models that we read, so that it finds what we find.
    pub fn uses_our_models(self) -> bool {
        match self {
            Self::Pi => false,
            Self::Embedded => true,
        }
    }

    /// Returns whether it takes a prompt that begins with a slash for a command.
    pub fn reads_slash_commands(self) -> bool {
        match self {
            Self::Pi => true,
            Self::Embedded => false,
        }
    }

    /// Returns whether it gets secrets on a descriptor instead of in its environment.
    pub fn takes_secrets_apart(self) -> bool {
        match self {
            Self::Pi => false,
            Self::Embedded => true,
        }
    }

    /// Returns whether it starts its shell through a program of ours by itself. The other one starts
    /// the shell that its settings name.
    pub fn confines_its_shell(self) -> bool {
        match self {
            Self::Pi => false,
            Self::Embedded => true,
        }
    }

    /// Returns whether it reads the instructions beside the code itself, within limits and without
    /// following links out of the project.
    pub fn reads_context_safely(self) -> bool {
        match self {
            Self::Pi => false,
            Self::Embedded => true,
        }
    }
}
