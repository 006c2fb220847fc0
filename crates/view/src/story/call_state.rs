//! The state of a tool call, from its beginning to its answer, for everybody who holds calls.

use pi_subagents_vocabulary::ToolResult;
use serde_json::Value;

use crate::preview::{self, CallOutcome};

/// The outcome of a call so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallState {
    outcome: CallOutcome,
    is_answered: bool,
}

impl Default for CallState {
    fn default() -> Self {
        Self {
            outcome: CallOutcome::UnderWay,
            is_answered: false,
        }
    }
}

impl CallState {
    /// Returns the outcome as the preview of the call shows it.
    pub fn outcome(&self) -> &CallOutcome {
        &self.outcome
    }

    /// Returns whether an answer may still come.
    pub fn is_open(&self) -> bool {
        !self.is_answered
    }

    /// Takes that the tool is done, before its answer is known. The details count the lines of a
    /// file that it has added and removed.
    pub fn end(&mut self, is_error: bool, details: Option<&Value>) {
        self.outcome = if is_error {
            CallOutcome::FailedSomehow
        } else {
            CallOutcome::Done {
                changes: details.and_then(preview::changes),
                summary: None,
            }
        };
    }

    /// Takes the answer of the tool.
    pub fn answer(&mut self, result: &ToolResult) {
        self.is_answered = true;
        self.outcome = match (CallOutcome::of(result), &self.outcome) {
            (CallOutcome::Done { summary, .. }, CallOutcome::Done { changes, .. }) => {
                CallOutcome::Done {
                    changes: *changes,
                    summary,
                }
            }
            (outcome, _) => outcome,
        };
    }

    /// Notes that there will be no answer. That is no fault if the run is completed.
    pub fn close(&mut self, is_completed: bool) {
        if self.outcome == CallOutcome::UnderWay {
            self.outcome = if is_completed {
                CallOutcome::Untold
            } else {
                CallOutcome::Unanswered
            };
        }
        self.is_answered = true;
    }
}
