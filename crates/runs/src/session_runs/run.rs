//! One run of pi's session.

use std::sync::Arc;

use pi_subagents_records::{Findable, FindableFacts, RecordedRun, RunDir, RunIds};
use pi_subagents_vocabulary::{RunId, SessionId, Status, Task, Timestamp};

use crate::entries::{BeginEntry, EndEntry};
use crate::owner_process::is_alive;
use crate::row::RunRow;

/// A run of pi's session.
#[derive(Debug, Clone)]
pub struct SessionRun {
    pub row: RunRow,
    /// The entry that pi's session keeps of a run that is over, unless it was dropped here.
    pub(crate) entry: Option<Arc<EndEntry>>,
    source: Source,
}

/// The source of a run's state.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// The events of this process, or the entry of the run.
    Foreground,
    /// The files of its detached owner.
    Background,
    /// Its record alone, because its host was killed.
    Record(RunDir),
}

impl SessionRun {
    /// Makes a run that was just accepted.
    pub(super) fn under_way(task: &Task, at: Timestamp) -> Self {
        Self {
            row: RunRow::of_task(task, at),
            entry: None,
            source: Source::Foreground,
        }
    }

    /// Makes a finished run from its entry; `None` if the ids or times of the entry cannot be read.
    pub(super) fn of_entry(entry: &Arc<EndEntry>) -> Option<Self> {
        Some(Self {
            row: RunRow::of_entry(entry)?,
            entry: Some(Arc::clone(entry)),
            source: Source::Foreground,
        })
    }

    /// Makes a background run.
    pub(super) fn in_background(row: RunRow) -> Self {
        Self {
            row,
            entry: None,
            source: Source::Background,
        }
    }

    /// Makes a run that has begun, and of whose end pi's session does not know.
    pub(super) fn left(begun: &BeginEntry) -> Option<Self> {
        Some(Self {
            row: RunRow::of_begun(begun)?,
            entry: None,
            source: Source::Record(begun.directory()),
        })
    }

    /// Returns whether the run has a detached owner.
    pub fn is_background(&self) -> bool {
        self.source == Source::Background
    }

    /// Reads the state of a run again whose host was killed; another pi may be working on it.
    pub(super) fn read_again(&mut self) {
        let Source::Record(directory) = &self.source else {
            return;
        };
        let Ok(record) = RecordedRun::read(directory) else {
            return;
        };
        let is_abandoned = record.end.is_none() && !is_alive(&record.owner, record.accepted_at);
        self.row = RunRow::of_record(&record);
        if is_abandoned {
            self.row.report.status = Status::Stopped;
        }
    }
}

impl RunIds for SessionRun {
    fn run_id(&self) -> &RunId {
        &self.row.report.run_id
    }

    fn session_id(&self) -> &SessionId {
        &self.row.report.session_id
    }
}

impl Findable for SessionRun {
    fn facts(&self) -> FindableFacts<'_> {
        self.row.facts()
    }
}
