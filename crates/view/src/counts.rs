//! Counts the runs by their state, and formats the counts as one line.

use pi_subagents_vocabulary::Status;

use crate::{Line, Role};

/// The number of runs in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// They run.
    pub running: usize,
    /// They have no place yet.
    pub queued: usize,
    /// They ended as they should.
    pub done: usize,
    /// They ended otherwise.
    pub failed: usize,
}

impl Counts {
    /// Counts one more run.
    pub fn add(&mut self, status: Status) {
        match status {
            Status::Queued => self.queued += 1,
            Status::Running => self.running += 1,
            Status::Completed => self.done += 1,
            Status::Failed | Status::Aborted => self.failed += 1,
        }
    }

    /// Draws the counts as one line.
    pub fn header(self) -> Line {
        let line = self.listed(Line::new(Role::Title, "Sub-agents: "));
        if line.spans().len() == 1 {
            return line.with(Role::Muted, "none");
        }
        line
    }

    /// Says how many runs are not shown.
    pub(crate) fn and_so_many(self) -> Line {
        self.listed(Line::new(Role::Muted, "… and "))
    }

    fn listed(self, begun: Line) -> Line {
        let errors = if self.failed == 1 { "error" } else { "errors" };
        let states = [
            (self.running, "running", Role::Warning),
            (self.queued, "queued", Role::Muted),
            (self.done, "done", Role::Success),
            (self.failed, errors, Role::Failed),
        ];
        let states = states.into_iter().filter(|(number, ..)| *number > 0);
        let mut line = begun;
        for (place, (number, state, role)) in states.enumerate() {
            if place > 0 {
                line = line.with(Role::Plain, ", ");
            }
            line = line.with(role, &format!("{number} {state}"));
        }
        line
    }
}
