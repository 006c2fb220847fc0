//! The place where a run works: its caller's checkout, or a worktree of its own, and the state that
//! a worktree begins from.

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

/// The state that a worktree begins from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum BaseChoice {
    /// HEAD with the caller's uncommitted changes.
    #[default]
    Working,
    /// The commit that is checked out.
    Head,
    /// A branch, a tag or a commit.
    Revision(String),
}

/// The text that names a base is no name of a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a base is working, head, or a branch, tag or commit")]
pub struct BadBase;

/// A longer text names no revision.
const LONGEST_REVISION: usize = 250;

impl BaseChoice {
    /// Reads a base as somebody wrote it.
    pub fn parse(text: &str) -> Result<Self, BadBase> {
        match text.trim() {
            "working" => Ok(Self::Working),
            "head" | "HEAD" => Ok(Self::Head),
            revision => {
                let is_odd = |letter: char| letter.is_whitespace() || letter.is_control();
                let is_plain = !revision.is_empty()
                    && revision.len() <= LONGEST_REVISION
                    && !revision.starts_with('-')
                    && !revision.contains(is_odd);
                let revision = is_plain.then(|| Self::Revision(revision.to_owned()));
                revision.ok_or(BadBase)
            }
        }
    }

    /// Returns the text for this choice.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Working => "working",
            Self::Head => "head",
            Self::Revision(revision) => revision,
        }
    }
}

impl TryFrom<String> for BaseChoice {
    type Error = BadBase;

    fn try_from(text: String) -> Result<Self, BadBase> {
        Self::parse(&text)
    }
}

impl From<BaseChoice> for String {
    fn from(base: BaseChoice) -> Self {
        base.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_a_word_or_a_revision() {
        let read = |text: &str| BaseChoice::parse(text).map(String::from);
        for text in [
            "working",
            "head",
            "main",
            "origin/main",
            "v1.0^{}",
            "0123abc",
        ] {
            assert_eq!(read(text), Ok(text.to_owned()));
        }
        for text in ["", " ", "-x", "--all", "a b", "a\nb"] {
            assert_eq!(read(text), Err(BadBase), "{text}");
        }
    }
}
