//! The family of tools that looks for a definition.

use pi_subagents_vocabulary::Dialect;

/// The family of tools that looks for a definition. Among equally near definitions of one name
/// each family takes its own dialect first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// `delegate_to_subagents` and the tools beside it.
    Delegation,
    /// `subagent` and `background_agent`.
    Subagent,
}

impl Asker {
    /// Returns the place of a dialect in this family's order of preference; less is stronger.
    pub(crate) fn preference(self, dialect: Dialect) -> usize {
        let order = match self {
            Self::Delegation => [Dialect::Profile, Dialect::Preset, Dialect::Prompt],
            Self::Subagent => [Dialect::Preset, Dialect::Prompt, Dialect::Profile],
        };
        // Two other tools have their files in the folder of our prompts.
        let dialect = if dialect.is_foreign() {
            Dialect::Prompt
        } else {
            dialect
        };
        order
            .iter()
            .position(|known| *known == dialect)
            .unwrap_or(order.len())
    }

    /// Returns the word of this family for a definition.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Delegation => "profile",
            Self::Subagent => "agent",
        }
    }

    /// Returns the same word as the beginning of a sentence.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Delegation => "Profile",
            Self::Subagent => "Agent",
        }
    }
}
