//! Counts runs by their state.

use pi_subagents_vocabulary::Status;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A number for each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The runs without a place yet.
    #[serde(default)]
    pub queued: usize,
    pub running: usize,
    pub completed: usize,
    pub failed: usize,
    pub aborted: usize,
}

impl Counts {
    pub fn of(states: impl IntoIterator<Item = Status>) -> Self {
        let mut counts = Self::default();
        for status in states {
            *match status {
                Status::Queued => &mut counts.queued,
                Status::Running => &mut counts.running,
                Status::Completed => &mut counts.completed,
                Status::Failed => &mut counts.failed,
                Status::Aborted => &mut counts.aborted,
            } += 1;
        }
        counts
    }

    pub fn total(self) -> usize {
        self.under_way() + self.completed + self.failed + self.aborted
    }

    /// Counts the runs that are not over.
    pub fn under_way(self) -> usize {
        self.queued + self.running
    }

    /// Returns the counts of background runs, as their tools give them to models. Such a run has a
    /// place at once, so one that has not begun counts as running.
    pub fn json(self) -> Value {
        json!({
            "running": self.under_way(),
            "completed": self.completed,
            "failed": self.failed,
            "aborted": self.aborted,
            "total": self.total(),
        })
    }

    /// Returns the counts with the queued runs apart.
    pub fn json_with_queued(self) -> Value {
        let mut counts = self.json();
        counts["running"] = json!(self.running);
        counts["queued"] = json!(self.queued);
        counts
    }

    /// Writes the counts of background runs in one line, as their tools tell them to models.
    pub fn line(self) -> String {
        let all = Self {
            queued: 0,
            running: self.under_way(),
            ..self
        };
        all.line_with_queued()
    }

    /// Writes the counts in one line, with the queued runs apart if there are any.
    pub fn line_with_queued(self) -> String {
        let queued = match self.queued {
            0 => String::new(),
            queued => format!(" {queued} queued,"),
        };
        format!(
            "{} running,{queued} {} completed, {} failed, {} aborted",
            self.running, self.completed, self.failed, self.aborted
        )
    }
}
