//! A wish about the sandbox of a run, and who has it.

use std::fmt;

use super::{NetworkReach, SandboxLevel};

/// A wish about level and network; a part that is not set leaves the decision to others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxWish {
    /// The level.
    pub level: Option<SandboxLevel>,
    /// The reach of its tools.
    pub network: Option<NetworkReach>,
}

/// Who has a wish. The order is that in which wishes are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WishSource {
    /// The user's own settings.
    Setting,
    /// A definition of the user.
    OwnDefinition,
    /// A flag of the command, or an option of the program that calls.
    Flag,
    /// The settings of a project.
    ProjectSetting,
    /// A definition of a project.
    ProjectDefinition,
    /// The task itself, which a model may have written.
    Task,
    /// The run that this one continues.
    EarlierRun,
    /// The least that the user demands of every run.
    Minimum,
}

impl WishSource {
    /// All sources, in the order in which they are looked at.
    pub const ALL: [Self; 8] = [
        Self::Setting,
        Self::OwnDefinition,
        Self::Flag,
        Self::ProjectSetting,
        Self::ProjectDefinition,
        Self::Task,
        Self::EarlierRun,
        Self::Minimum,
    ];

    /// Returns whether a wish of this source takes the place of earlier ones. Otherwise it can only
    /// tighten what they have decided.
    pub fn may_loosen(self) -> bool {
        match self {
            Self::Setting | Self::OwnDefinition | Self::Flag => true,
            Self::ProjectSetting
            | Self::ProjectDefinition
            | Self::Task
            | Self::EarlierRun
            | Self::Minimum => false,
        }
    }

    /// Returns whether the source names the least that holds, so that a lower value of it is not a
    /// wish for less.
    pub(super) fn is_floor(self) -> bool {
        matches!(self, Self::EarlierRun | Self::Minimum)
    }
}

impl SandboxWish {
    /// Returns whether nothing is wished for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for WishSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Setting => "your setting",
            Self::OwnDefinition => "the agent",
            Self::Flag => "the call",
            Self::ProjectSetting => "the project's setting",
            Self::ProjectDefinition => "the project's agent",
            Self::Task => "the task",
            Self::EarlierRun => "the run that is continued",
            Self::Minimum => "your setting subagents.sandboxMinimum",
        })
    }
}
