//! How much of the file system a child may write.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a child may write. The order is from loose to tight.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxLevel {
    /// Everything that its user may write: there is no sandbox.
    #[default]
    Off,
    /// Its working directory, git's directories and the temporary files of the run.
    WorkspaceWrite,
    /// The temporary files of the run.
    ReadOnly,
}

impl SandboxLevel {
    /// All levels, from loose to tight.
    pub const ALL: [Self; 3] = [Self::Off, Self::WorkspaceWrite, Self::ReadOnly];

    /// Reads the word for a level.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }

    /// Returns the word for this level.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::WorkspaceWrite => "workspace-write",
            Self::ReadOnly => "read-only",
        }
    }

    /// Returns whether there is no sandbox.
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }

    /// Returns the tighter of two levels.
    #[must_use]
    pub fn tightened(self, other: Self) -> Self {
        self.max(other)
    }

    /// Returns whether this level is as tight as a floor, or tighter.
    pub fn at_least(self, floor: Self) -> bool {
        self >= floor
    }
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
