//! The values of a plan in which the tool families differ.

use std::path::{Path, PathBuf};

use pi_subagents_schemas::OutputSchema;
use serde::{Deserialize, Serialize};

use crate::FINALIZE_TOOL;

/// The tools that the child has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolPolicy {
    /// The tools it has by default.
    Inherit,
    /// No tools.
    Nothing,
    /// Only these tools.
    Only(Vec<String>),
    /// The tools it has by default, without these.
    AllExcept(Vec<String>),
}

/// The tools that only read files.
pub const READ_TOOLS: [&str; 4] = ["read", "grep", "find", "ls"];

/// The tools by which files are changed.
const CHANGE_TOOLS: [&str; 3] = ["bash", "edit", "write"];

impl ToolPolicy {
    /// Returns whether the child has none of our tools that could do more than read files and report.
    pub fn only_reads(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Only(names) => names
                .iter()
                .all(|name| READ_TOOLS.contains(&name.as_str()) || name.as_str() == FINALIZE_TOOL),
            Self::AllExcept(names) => CHANGE_TOOLS
                .iter()
                .all(|tool| names.iter().any(|name| name == tool)),
            Self::Inherit => false,
        }
    }

    /// Returns whether the policy alone decides for every tool whether the child has it.
    pub fn names_all(&self) -> bool {
        match self {
            Self::Nothing | Self::Only(_) => true,
            Self::Inherit | Self::AllExcept(_) => false,
        }
    }

    /// Returns the same tools with the one that a child reports with.
    #[must_use]
    pub fn with_report(self) -> Self {
        self.with_tool(FINALIZE_TOOL)
    }

    /// Returns the same tools with one more.
    #[must_use]
    pub fn with_tool(self, tool: &str) -> Self {
        match self {
            Self::Inherit => Self::Inherit,
            Self::Nothing => Self::Only(vec![tool.to_owned()]),
            Self::Only(mut names) => {
                names.retain(|name| name != tool);
                names.push(tool.to_owned());
                Self::Only(names)
            }
            Self::AllExcept(mut names) => {
                names.retain(|name| name != tool);
                Self::all_except(names)
            }
        }
    }

    /// Returns all tools but these.
    pub fn all_except(names: Vec<String>) -> Self {
        if names.is_empty() {
            Self::Inherit
        } else {
            Self::AllExcept(names)
        }
    }
}

/// The model that answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "ModelFields", into = "ModelFields")]
pub enum ModelChoice {
    /// The child's default.
    #[default]
    Inherit,
    /// This model.
    Named {
        /// The provider, where it is given apart from the model.
        provider: Option<String>,
        /// A model id or pattern.
        model: Option<String>,
        /// The thinking level of the model.
        thinking: Option<ThinkingLevel>,
    },
}

/// A choice of a model in JSON: an object without fields stands for the child's default.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ModelFields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingLevel>,
}

impl From<ModelFields> for ModelChoice {
    fn from(fields: ModelFields) -> Self {
        let ModelFields {
            provider,
            model,
            thinking,
        } = fields;
        if provider.is_none() && model.is_none() && thinking.is_none() {
            return Self::Inherit;
        }
        Self::Named {
            provider,
            model,
            thinking,
        }
    }
}

impl From<ModelChoice> for ModelFields {
    fn from(choice: ModelChoice) -> Self {
        match choice {
            ModelChoice::Inherit => Self {
                provider: None,
                model: None,
                thinking: None,
            },
            ModelChoice::Named {
                provider,
                model,
                thinking,
            } => Self {
                provider,
                model,
                thinking,
            },
        }
    }
}

impl ModelChoice {
    /// Returns whether the choice is left to the child.
    pub fn is_inherited(&self) -> bool {
        *self == Self::Inherit
    }
}

/// The thinking levels of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    /// The model does not think.
    #[default]
    Off,
    /// The least that providers offer; some treat it as `Low`.
    Minimal,
    /// A small budget.
    Low,
    /// A medium budget.
    Medium,
    /// A large budget.
    High,
    /// A very large budget, which only some models have.
    Xhigh,
    /// The most that the model has.
    Max,
}

/// The place where the child keeps its own session.
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
        /// The lock that a run holds while any process of it lives. It is not the session file
        /// itself, because a child may lock that too.
        lock: PathBuf,
    },
}

impl SessionPolicy {
    /// Returns the file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Nowhere => None,
            Self::File(file) | Self::Shared { file, .. } => Some(file),
        }
    }
}

/// The condition under which a run counts as done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Completion {
    /// The child settles; its last text is the answer.
    LastMessage,
    /// The child reports with [`FINALIZE_TOOL`](crate::FINALIZE_TOOL).
    Finalized {
        /// The number of corrections for a child that settles without a report.
        corrections: u32,
        /// The schema that the result must meet, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<OutputSchema>,
    },
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

    /// Returns the word for this level.
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
