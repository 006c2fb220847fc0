//! Everything in which the tool families differ, as values of a plan.

use std::path::{Path, PathBuf};

/// Which kind of child does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Runner {
    /// A real pi process.
    Pi,
    /// The agent inside our own binary.
    Embedded,
}

/// What the child is told about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemPrompt {
    /// The child's own.
    Inherit,
    /// These files, after the child's own.
    Append(Vec<PathBuf>),
    /// This file instead of the child's own, and then those.
    Replace {
        /// What replaces it.
        file: PathBuf,
        /// What follows it.
        append: Vec<PathBuf>,
    },
}

/// Which tools the child has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolPolicy {
    /// Those it has by default.
    Inherit,
    /// None.
    Nothing,
    /// These.
    Only(Vec<String>),
    /// Its default ones without these.
    AllExcept(Vec<String>),
}

impl ToolPolicy {
    /// Tells whether it says of every tool whether the child has it.
    pub fn names_all(&self) -> bool {
        match self {
            Self::Nothing | Self::Only(_) => true,
            Self::Inherit | Self::AllExcept(_) => false,
        }
    }
}

/// Which model answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoice {
    /// The child's default.
    Inherit,
    /// This one.
    Named {
        /// The provider, where it is given apart from the model.
        provider: Option<String>,
        /// A model id or pattern.
        model: Option<String>,
        /// How much it may think.
        thinking: Option<ThinkingLevel>,
    },
}

/// How much a model may think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ThinkingLevel {
    /// Not at all.
    #[default]
    Off,
    /// A bit.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as it can.
    Max,
}

/// Where the child keeps its own session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionPolicy {
    /// Nowhere.
    Nowhere,
    /// In this file, which is created or continued.
    File(PathBuf),
    /// In this file, which several runs continue, one after another.
    Shared {
        /// The session.
        file: PathBuf,
        /// What a run must hold while anything of it lives; it is not the session itself, which
        /// a child may lock too.
        lock: PathBuf,
    },
}

impl SessionPolicy {
    /// The file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Nowhere => None,
            Self::File(file) | Self::Shared { file, .. } => Some(file),
        }
    }
}

/// When a run counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// When the child settles; its last text is the answer.
    LastMessage,
    /// When the child has reported with [`FINALIZE_TOOL`](crate::FINALIZE_TOOL).
    Finalized {
        /// How often a child that settles without a report is told what is missing.
        corrections: u32,
    },
}

impl Runner {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pi => "pi",
            Self::Embedded => "embedded",
        }
    }
}

impl ThinkingLevel {
    /// All levels, from least to most.
    pub const ALL: [Self; 7] = [
        Self::Off,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::Xhigh,
        Self::Max,
    ];

    /// Reads the word for a level.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}
