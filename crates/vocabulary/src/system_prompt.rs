//! The system prompt of a child: its texts, which hold everywhere, and the files that carry them on
//! one machine.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The texts of a system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptTexts {
    /// The text in place of the child's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<String>,
    /// The text that follows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append: Option<String>,
}

/// The system prompt that the child gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemPrompt {
    /// Its own system prompt.
    Inherit,
    /// Its own, followed by these files.
    Append(Vec<PathBuf>),
    /// This file instead of its own, followed by others.
    Replace {
        /// The file that replaces it.
        file: PathBuf,
        /// The files that follow.
        append: Vec<PathBuf>,
    },
}

/// The files that carry a system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFiles {
    /// The form in which the plan refers to the files.
    pub policy: SystemPrompt,
    /// The files with their contents, which must be written before the child starts.
    pub files: Vec<(PathBuf, String)>,
}

impl PromptTexts {
    /// Returns whether the child keeps its own system prompt.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the files of a run directory that carry the texts.
    pub fn files(&self, directory: &Path) -> PromptFiles {
        let main = directory.join("system-prompt.md");
        let second = directory.join("append-system-prompt.md");
        match (&self.replace, &self.append) {
            (None, None) => PromptFiles {
                policy: SystemPrompt::Inherit,
                files: Vec::new(),
            },
            (None, Some(text)) => PromptFiles {
                policy: SystemPrompt::Append(vec![main.clone()]),
                files: vec![(main, text.clone())],
            },
            (Some(text), None) => PromptFiles {
                policy: SystemPrompt::Replace {
                    file: main.clone(),
                    append: Vec::new(),
                },
                files: vec![(main, text.clone())],
            },
            (Some(text), Some(appended)) => PromptFiles {
                policy: SystemPrompt::Replace {
                    file: main.clone(),
                    append: vec![second.clone()],
                },
                files: vec![(main, text.clone()), (second, appended.clone())],
            },
        }
    }
}
