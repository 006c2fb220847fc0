//! Counts runs by their state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Status;

/// The number of runs in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// The runs without a place yet.
    pub queued: usize,
    /// The runs that go on.
    pub running: usize,
    /// The runs that wait for the answer to a question.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waiting: usize,
    /// The runs that ended because nobody answered, and that an answer continues.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub parked: usize,
    /// The runs that ended as they should.
    pub completed: usize,
    /// The runs that ended in an error.
    pub failed: usize,
    /// The runs that somebody stopped.
    pub stopped: usize,
    /// All of them.
    total: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the field over by reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Counts {
    /// Counts runs in these states.
    pub fn of(states: impl IntoIterator<Item = Status>) -> Self {
        let mut counts = Self::default();
        for status in states {
            counts.add(status);
        }
        counts
    }

    /// Counts one more run.
    pub fn add(&mut self, status: Status) {
        *match status {
            Status::Queued => &mut self.queued,
            Status::Running => &mut self.running,
            Status::Waiting => &mut self.waiting,
            Status::Parked => &mut self.parked,
            Status::Completed => &mut self.completed,
            Status::Failed => &mut self.failed,
            Status::Stopped => &mut self.stopped,
        } += 1;
        self.total += 1;
    }

    /// Returns the number of all runs.
    pub fn total(self) -> usize {
        self.total
    }

    /// Counts the runs that are not over.
    pub fn under_way(self) -> usize {
        self.queued + self.running + self.waiting
    }

    /// Returns the counts in the words of the background family. Such a run has a place at once, so
    /// one that has not begun counts as running.
    pub fn background_json(self) -> Value {
        json!({
            "running": self.under_way(),
            "completed": self.completed,
            "failed": self.failed,
            "aborted": self.stopped + self.parked,
            "total": self.total,
        })
    }

    /// Writes the counts in one line, in the words of the background family.
    pub fn background_line(self) -> String {
        format!(
            "{} running, {} completed, {} failed, {} aborted",
            self.under_way(),
            self.completed,
            self.failed,
            self.stopped + self.parked
        )
    }

    /// Writes the counts in one line, with the queued, the waiting and the parked runs if there are
    /// any.
    pub fn line(self) -> String {
        let some = |number: usize, word: &str| match number {
            0 => String::new(),
            number => format!(" {number} {word},"),
        };
        let queued = some(self.queued, "queued");
        let waiting = some(self.waiting, "waiting");
        let parked = some(self.parked, "parked");
        format!(
            "{} running,{queued}{waiting}{parked} {} completed, {} failed, {} stopped",
            self.running, self.completed, self.failed, self.stopped
        )
    }
}
