//! Rows from the index, from the record of a run, or from a session of pi.

use std::path::Path;

use pi_subagents_records::{
    IndexedRun, OwnerName, RecordError, RecordedRun, RunDir, RunState, history,
};
use pi_subagents_vocabulary::{
    Ending, HeldMessages, LAST_TEXT_LIMIT, RunReport, RunSummary, Status, Task, Timestamp, Usage,
    text,
};

use super::{Artifacts, RowOwner, RunRow};
use crate::entries::{BeginEntry, EndEntry};
use crate::fleet_outage::Away;
use crate::missing_record::LostRecord;
use crate::owner_process::OwnerProcess as _;
use crate::workspace::Workspace;

/// The number of characters of a task that a list shows.
const SHOWN_TASK: usize = 200;

/// Returns the absence of the servers that keeps an open run of a fleet from being seen.
fn away(record: &RecordedRun) -> Option<Away> {
    let is_open_in_fleet = record.owner.fleet.is_some() && record.end.is_none();
    is_open_in_fleet
        .then(|| Away::noted(&record.directory))
        .flatten()
}

/// Returns the beginning of a prompt, for whoever knows the whole of it or reads many.
pub fn shown_task(prompt: &str) -> String {
    text::cut_characters(prompt, SHOWN_TASK)
}

impl RunRow {
    /// Makes the row of a run that is in the index, without its record.
    pub fn of_index(run: &IndexedRun) -> Self {
        let (id, session) = (run.run.clone(), run.session.clone());
        let mut report = RunReport::new(id, session, run.name.clone(), run.accepted_at);
        report.agent.clone_from(&run.preset);
        if let Some(model) = &run.model {
            report.set_full_model(model);
        }
        take_state(&mut report, run.state);
        Self {
            owner: Some(RowOwner::of_index(run)),
            ..Self::new(report)
        }
    }

    /// Makes the row of a run that is in the index and whose record was read. If both know of an
    /// end, the index counts; its line is written last.
    pub fn of_index_and_record(run: &IndexedRun, record: &RecordedRun) -> Self {
        let mut row = Self {
            owner: Some(RowOwner::of_index(run)),
            ..Self::of_record(record)
        };
        take_state(&mut row.report, run.state);
        row
    }

    /// Makes the row of a run in the index, with its record, or with the reason why that cannot be
    /// read.
    pub fn read(run: &IndexedRun) -> Self {
        match RecordedRun::read(&run.directory) {
            Ok(record) => Self::of_index_and_record(run, &record),
            Err(error) => Self::with_problem(run, error),
        }
    }

    /// Makes the row of a run whose record cannot be read.
    pub fn with_problem(run: &IndexedRun, error: RecordError) -> Self {
        Self {
            record_problem: Some(LostRecord::new(run, error).what()),
            ..Self::of_index(run)
        }
    }

    /// Makes the row of a recorded run.
    pub fn of_record(record: &RecordedRun) -> Self {
        let detached = record.owner.detached.as_ref();
        let mut report = record.report();
        if has_long_output(&report) {
            // The result has the beginning of a very long answer, and the events have all of it.
            let whole = history(&record.directory, HeldMessages::LastText).ok();
            let whole = whole.and_then(|whole| whole.output());
            report.output = whole.or(report.output);
        }
        let row = Self {
            artifacts: Some(Box::new(Artifacts::of(&record.directory))),
            away: away(record),
            pi_session: detached.and_then(|detached| detached.pi_session.clone()),
            owner: Some(RowOwner::of_record(record)),
            ..Self::new(report)
        };
        row.with_workspace(Workspace::read(record.directory.path()))
    }

    /// Adds the worktree of the run, and puts the files that git found there into its receipt.
    pub(super) fn with_workspace(mut self, workspace: Option<Workspace>) -> Self {
        self.workspace = workspace.map(Box::new);
        let paths = self.workspace.as_deref().and_then(Workspace::changed_paths);
        if let (Some(receipt), Some(paths)) = (&mut self.report.receipt, paths) {
            receipt.take_worktree(paths);
        }
        self
    }

    /// Makes the row of a task that was just accepted. It has the beginning of the prompt: a pi may
    /// live for weeks and holds one row for each of its runs.
    pub(crate) fn of_task(task: &Task, accepted_at: Timestamp) -> Self {
        let mut report = RunReport::of_task(task, accepted_at);
        report.task = Some(shown_task(&task.prompt));
        Self::new(report)
    }

    /// Makes the row of a finished run from the entry that pi's session keeps, without the
    /// messages; `None` if the times of the entry cannot be read.
    pub(crate) fn of_entry(entry: &EndEntry) -> Option<Self> {
        Some(Self::new(entry.report()?))
    }

    /// Makes the row of a run that has begun, and of whose end pi's session does not know.
    pub(crate) fn of_begun(begun: &BeginEntry) -> Option<Self> {
        Some(Self::new(begun.report()?))
    }

    /// Takes over the facts in the events of a run that goes on: whether it has a place, its model,
    /// and its usage so far.
    pub fn take_progress(&mut self, summary: &RunSummary) {
        self.report.take_progress(summary);
    }

    /// Returns the row with the progress that another row of the same run knows.
    pub fn with_progress_of(mut self, other: &Self) -> Self {
        if !self.is_over() && !other.is_over() {
            let (mine, theirs) = (&mut self.report, &other.report);
            mine.status = theirs.status;
            mine.worker.clone_from(&theirs.worker);
            mine.started_at = theirs.started_at;
            mine.usage = theirs.usage;
            mine.granted = theirs.granted;
            mine.waits_for.clone_from(&theirs.waits_for);
            mine.tool_calls = theirs.tool_calls;
            mine.questions.clone_from(&theirs.questions);
            mine.receipt.clone_from(&theirs.receipt);
            if theirs.model.is_some() {
                mine.provider.clone_from(&theirs.provider);
                mine.model.clone_from(&theirs.model);
            }
        }
        self
    }

    /// Marks a run as failed whose owner is gone together with the record.
    pub fn without_record(mut self, now: Timestamp) -> Self {
        let report = &mut self.report;
        report.take_ending(Ending::Lost {
            reason: "its owner process exited, and its record was deleted".to_owned(),
        });
        report.ended_at = Some(now);
        report.usage = Some(Usage::default());
        self
    }
}

fn take_state(report: &mut RunReport, state: RunState) {
    match state {
        RunState::Over {
            status,
            exit_code,
            at,
            used,
        } => {
            report.status = status;
            report.exit_code = Some(exit_code);
            report.ended_at = Some(at);
            if let Some(used) = used {
                report.usage.get_or_insert(used.usage);
                report.tool_calls.get_or_insert(used.calls);
            }
        }
        // Its owner writes the result first, and the line of the index after it.
        RunState::Open if report.is_over() => {}
        RunState::Open => report.status = Status::Running,
    }
}

/// Returns whether its answer may be cut, because memory holds no more of a text.
fn has_long_output(report: &RunReport) -> bool {
    let output = report.output.as_ref();
    output.is_some_and(|output| output.len() > LAST_TEXT_LIMIT)
}

impl RowOwner {
    /// Returns this process as the owner of a run that it has just seen to its end.
    pub(super) fn this_process(project: &Path, directory: &RunDir) -> Self {
        Self {
            background: false,
            project: project.to_owned(),
            owner_pid: std::process::id(),
            owner_stopped: false,
            directory: directory.path().to_owned(),
        }
    }

    fn of_index(run: &IndexedRun) -> Self {
        Self::of(&run.owner, &run.project, &run.directory, run.is_open())
    }

    fn of_record(record: &RecordedRun) -> Self {
        let is_open = record.end.is_none();
        Self::of(&record.owner, &record.project, &record.directory, is_open)
    }

    fn of(owner: &OwnerName, project: &Path, directory: &RunDir, is_open: bool) -> Self {
        Self {
            background: owner.detached.is_some(),
            project: project.to_owned(),
            owner_pid: owner.pid,
            owner_stopped: is_open && owner.is_owner_stopped(),
            directory: directory.path().to_owned(),
        }
    }
}
