//! Counts runs by their state.

use pi_subagents_delegation::Status;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A number for each state; a run that waits for a free place counts as running.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) running: usize,
    pub(crate) completed: usize,
    pub(crate) failed: usize,
    pub(crate) aborted: usize,
}

impl Counts {
    pub(crate) fn of(states: impl IntoIterator<Item = Status>) -> Self {
        let mut counts = Self::default();
        for status in states {
            *match status {
                Status::Queued | Status::Running => &mut counts.running,
                Status::Completed => &mut counts.completed,
                Status::Failed => &mut counts.failed,
                Status::Aborted => &mut counts.aborted,
            } += 1;
        }
        counts
    }

    pub(crate) fn total(self) -> usize {
        self.running + self.completed + self.failed + self.aborted
    }

    pub(crate) fn json(self) -> Value {
        json!({
            "running": self.running,
            "completed": self.completed,
            "failed": self.failed,
            "aborted": self.aborted,
            "total": self.total(),
        })
    }

    /// Writes the counts in one line.
    pub(crate) fn line(self) -> String {
        format!(
            "{} running, {} completed, {} failed, {} aborted",
            self.running, self.completed, self.failed, self.aborted
        )
    }
}
