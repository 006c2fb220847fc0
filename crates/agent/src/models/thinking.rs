//! How hard a model is asked to think.

use serde::{Deserialize, Serialize};

/// Pi's seven levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ThinkingLevel {
    #[default]
    Off,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

impl ThinkingLevel {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Off, "off"),
        (Self::Minimal, "minimal"),
        (Self::Low, "low"),
        (Self::Medium, "medium"),
        (Self::High, "high"),
        (Self::Xhigh, "xhigh"),
        (Self::Max, "max"),
    ];

    /// All of them, from none to most.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::ALL.iter().map(|(level, _)| *level)
    }

    /// The level with this name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(_, known)| *known == name);
        found.map(|(level, _)| *level)
    }

    pub(crate) fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}
