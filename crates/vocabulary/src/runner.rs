//! The kinds of child, and everything in which they differ. Nobody else matches on the kind: a further
//! one is a line in each function here, and a program that `calls` finds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{OtherAgent, RunnerChoice};

/// The kind of child that does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Runner {
    /// A real pi process.
    Pi,
    /// The agent inside our own binary.
    Embedded,
    /// A bridge to an agent of others.
    #[serde(untagged)]
    Bridge(OtherAgent),
}

impl Runner {
    /// The kinds that need no program of others than pi, the usual one first.
    pub const OWN: [Self; 2] = [Self::Pi, Self::Embedded];

    /// Reads the word for a runner; `None` for a word of a newer version.
    pub fn from_word(word: &str) -> Option<Self> {
        let mut own = Self::OWN.into_iter();
        let own = own.find(|runner| runner.as_str() == word);
        own.or_else(|| OtherAgent::from_word(word).map(Self::Bridge))
    }

    /// Returns the agent of others that does the work, if one does.
    pub fn other_agent(self) -> Option<OtherAgent> {
        match self {
            Self::Pi | Self::Embedded => None,
            Self::Bridge(agent) => Some(agent),
        }
    }

    /// Returns the word for this runner.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::Embedded => "embedded",
            Self::Bridge(agent) => agent.as_str(),
        }
    }

    /// Returns its name in a sentence.
    pub fn title(self) -> &'static str {
        match self {
            Self::Pi => "a pi process",
            Self::Embedded => "the embedded agent",
            Self::Bridge(agent) => agent.title(),
        }
    }

    /// Returns the choice that names it.
    pub fn choice(self) -> RunnerChoice {
        match self {
            Self::Pi => RunnerChoice::Pi,
            Self::Embedded => RunnerChoice::Embedded,
            Self::Bridge(agent) => RunnerChoice::Bridge(agent),
        }
    }

    /// Returns whether it loads extensions. Such a child may have tools that we do not know, gets
    /// what it has no flag for from an extension of ours, and runs code of a trusted project.
    pub fn loads_extensions(self) -> bool {
        match self {
            Self::Pi => true,
            Self::Embedded | Self::Bridge(_) => false,
        }
    }

    /// Returns whether it has the flags that only we need, such as `--finalize` and `--run-dir`.
    pub fn has_our_flags(self) -> bool {
        match self {
            Self::Pi => false,
            Self::Embedded | Self::Bridge(_) => true,
        }
    }

    /// Returns whether it can be told after how many answers its tools are refused.
    pub fn counts_its_turns(self) -> bool {
        match self {
            Self::Pi | Self::Embedded => true,
            Self::Bridge(_) => false,
        }
    }

    /// Returns whether it reads the catalogue of models that we read, so that it finds what we find.
    pub fn uses_our_models(self) -> bool {
        match self {
            Self::Pi | Self::Bridge(_) => false,
            Self::Embedded => true,
        }
    }

    /// Returns whether it refuses a model that it does not have, so that nobody has to ask it.
    pub fn checks_its_model(self) -> bool {
        match self {
            Self::Pi => false,
            Self::Embedded | Self::Bridge(_) => true,
        }
    }

    /// Returns whether it takes a prompt that begins with a slash for a command.
    pub fn reads_slash_commands(self) -> bool {
        match self {
            Self::Pi | Self::Bridge(_) => true,
            Self::Embedded => false,
        }
    }

    /// Returns whether it gets secrets on a descriptor instead of in its environment.
    pub fn takes_secrets_apart(self) -> bool {
        match self {
            Self::Pi | Self::Bridge(_) => false,
            Self::Embedded => true,
        }
    }

    /// Returns whether it starts its shell through a program of ours by itself. The other one starts
    /// the shell that its settings name.
    pub fn confines_its_shell(self) -> bool {
        match self {
            Self::Pi => false,
            Self::Embedded | Self::Bridge(_) => true,
        }
    }

    /// Returns the megabytes that it takes soon after its start.
    pub fn memory(self) -> u64 {
        match self {
            Self::Pi => 120,
            Self::Embedded => 16,
            Self::Bridge(_) => 250,
        }
    }

    /// Returns whether its start takes so long that it is begun before the turn of its run.
    pub fn starts_slowly(self) -> bool {
        match self {
            Self::Pi => true,
            Self::Embedded | Self::Bridge(_) => false,
        }
    }

    /// Returns whether it takes so much that few fit on a processor.
    pub fn is_heavy(self) -> bool {
        match self {
            Self::Pi | Self::Bridge(_) => true,
            Self::Embedded => false,
        }
    }

    /// Returns whether it reads the instructions beside the code itself, within limits and without
    /// following links out of the project.
    pub fn reads_context_safely(self) -> bool {
        match self {
            Self::Pi => false,
            Self::Embedded | Self::Bridge(_) => true,
        }
    }
}
