//! Runs without changes that wait for a person all the same: they are at a limit, or they failed.

use std::collections::HashSet;
use std::path::Path;

use pi_subagents_records::{IndexedRun, RunState};
use pi_subagents_vocabulary::{Ending, RunReport, SessionId, Status, Timestamp};

use super::later::ReviewNote;
use crate::row::RunRow;

/// At most so many of the newest failed runs are read.
const MOST: usize = 50;

/// A run that ended before it was done.
#[derive(Debug, Clone)]
pub struct StoppedRun {
    pub row: RunRow,
    pub kind: StopKind,
    /// The time of its end.
    pub at: Timestamp,
    pub note: ReviewNote,
}

/// The reason why it waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// It reached a limit, and can go on if somebody gives it more.
    Limit,
    /// It failed.
    Failure,
}

impl StopKind {
    /// Returns the kind of a run by its ending.
    pub(super) fn of(report: &RunReport) -> Self {
        match report.ending.as_deref() {
            Some(
                Ending::TimedOut { .. }
                | Ending::Looped { .. }
                | Ending::OutOfTurns { .. }
                | Ending::Overspent(_),
            ) => Self::Limit,
            Some(_) | None => Self::Failure,
        }
    }
}

/// Lists the runs of a project that failed and that nobody has continued or dismissed, newest first.
/// `known` are the runs whose results wait, which are listed with them.
pub(super) fn failed_runs(
    runs: &[IndexedRun],
    project: &Path,
    has_result: impl Fn(&IndexedRun) -> bool,
) -> Vec<StoppedRun> {
    let mut continued: HashSet<&SessionId> = HashSet::new();
    let mut failed = Vec::new();
    for run in runs.iter().rev().filter(|run| run.project == project) {
        // A later run of the session has taken its place.
        let is_latest = continued.insert(&run.session);
        let RunState::Over { status, at, .. } = run.state else {
            continue;
        };
        if status != Status::Failed || !is_latest || has_result(run) {
            continue;
        }
        let note = ReviewNote::read(&run.directory);
        if note.is_dismissed {
            continue;
        }
        failed.push((run, at, note));
        if failed.len() == MOST {
            break;
        }
    }
    let rows = failed.into_iter().map(|(run, at, note)| {
        let row = RunRow::read(run).shortened();
        StoppedRun {
            kind: StopKind::of(&row.report),
            row,
            at,
            note,
        }
    });
    rows.collect()
}
