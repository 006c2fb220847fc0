//! Reads the questions of a background run in its record, as it grows.

use pi_subagents_records::{RecordTail, RunDir};
use pi_subagents_runs::row::RunRow;
use pi_subagents_vocabulary::{Question, QuestionId, RunSummary};

/// The approximate number of bytes of a record that are read at once.
const PIECE: usize = 256 << 10;

/// A background run, as far as its record was read.
pub(super) struct AskingRun {
    row: RunRow,
    tail: RecordTail,
    summary: RunSummary,
    /// The questions that were open at the last look.
    open: Vec<QuestionId>,
}

/// The change since the last look.
pub(super) struct AskingChange {
    /// The run as it is now.
    pub(super) row: RunRow,
    /// The questions that were asked since, and are open.
    pub(super) asked: Vec<Question>,
}

impl AskingRun {
    pub(super) fn new(row: &RunRow, directory: &RunDir) -> Self {
        Self {
            row: row.clone(),
            tail: RecordTail::new(directory),
            summary: RunSummary::without_text(),
            open: Vec::new(),
        }
    }

    /// Reads on to the end of the record. Returns the change if the run asks something else than
    /// before, and goes on.
    pub(super) fn read_on(&mut self) -> Option<AskingChange> {
        // A record that cannot be read asks nothing; the end of the run is seen elsewhere.
        while let Ok(events) = self.tail.next(PIECE)
            && !events.is_empty()
        {
            self.summary.apply_all(&events);
        }
        let questions = &self.summary.questions;
        let open: Vec<QuestionId> = questions.open().map(|asked| asked.id.clone()).collect();
        if self.summary.status().is_over() || open == self.open {
            return None;
        }
        let is_new = |asked: &&Question| !self.open.contains(&asked.id);
        let asked = questions.open().filter(is_new).cloned().collect();
        self.open = open;
        self.row.take_progress(&self.summary);
        let row = self.row.clone();
        Some(AskingChange { row, asked })
    }
}
