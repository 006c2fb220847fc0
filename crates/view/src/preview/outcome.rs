//! The outcome of a tool call, as its preview shows it.

use pi_subagents_vocabulary::{CallFailure, ToolResult};
use serde_json::Value;

use super::search;
use crate::{Line, Role, Span};

/// The mark of a call that failed.
pub(super) const FAILED: &str = "✗ ";

/// Stands behind a call that has no result yet.
const UNDER_WAY: &str = " (running)";

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum CallOutcome {
    /// The outcome is not shown.
    #[default]
    Untold,
    /// It has no result yet.
    UnderWay,
    /// It succeeded.
    Done {
        /// The numbers of lines that were added to a file and removed from it, if the tool reported
        /// them.
        changes: Option<(usize, usize)>,
        /// The summary of the findings, on a line of its own.
        summary: Option<Line>,
    },
    /// It failed.
    Failed(CallFailure),
    /// It failed, and why is not known yet.
    FailedSomehow,
    /// Its run was over before it had a result.
    Unanswered,
}

impl CallOutcome {
    /// Reads the outcome from the result of a call.
    pub fn of(result: &ToolResult) -> Self {
        match result.failure() {
            Some(failure) => Self::Failed(failure),
            None => Self::Done {
                changes: None,
                summary: summary(result),
            },
        }
    }

    pub(super) fn is_failed(&self) -> bool {
        matches!(
            self,
            Self::Failed(_) | Self::FailedSomehow | Self::Unanswered
        )
    }

    /// Returns the text behind the call.
    pub(super) fn tail(&self, width: usize) -> Vec<Span> {
        let failed = |words: &str| {
            let words = pi_subagents_vocabulary::text::cut_columns(words, width / 2);
            vec![Span::new(Role::Failed, &format!("  {words}"))]
        };
        match self {
            Self::UnderWay => vec![Span::new(Role::Warning, UNDER_WAY)],
            Self::Done {
                changes: Some((added, removed)),
                ..
            } => vec![
                Span::new(Role::Added, &format!(" +{added}")),
                Span::new(Role::Muted, "/"),
                Span::new(Role::Removed, &format!("-{removed}")),
            ],
            Self::Failed(why) => failed(&why.to_string()),
            Self::Unanswered => failed("no result"),
            Self::Untold | Self::Done { .. } | Self::FailedSomehow => Vec::new(),
        }
    }
}

/// Counts the lines that an edit added and removed, in the diff beside its result.
pub fn changes(details: &Value) -> Option<(usize, usize)> {
    let diff = details.get("diff")?.as_str()?;
    let count = |mark| diff.lines().filter(|line| line.starts_with(mark)).count();
    Some((count('+'), count('-')))
}

/// Sums up the result of a call, for the tools that have a summary.
fn summary(result: &ToolResult) -> Option<Line> {
    match result.tool.as_str() {
        "ls" => Some(search::ls_summary(&result.text())),
        "find" => Some(search::find_summary(&result.text())),
        _ => None,
    }
}
