//! The place where a run works: its caller's checkout, or a worktree of its own.

use serde::{Deserialize, Serialize};

/// The wish about the place where a run works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// In the directory of the task itself.
    #[default]
    None,
    /// In a git worktree of its own.
    Worktree,
}

impl Isolation {
    /// All choices.
    pub const ALL: [Self; 2] = [Self::None, Self::Worktree];

    /// Reads the word for a choice.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.as_str() == word)
    }

    /// Returns the word for this choice.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Worktree => "worktree",
        }
    }
}
