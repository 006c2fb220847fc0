//! Rows from the index, from the record of a run, or from a session of pi.

use pi_subagents_vocabulary::Advice;
use pi_subagents_vocabulary::Door;
use std::path::Path;

use pi_subagents_records::{
    IndexedRun, OwnerName, RecordError, RecordedEnd, RecordedRun, RunDir, RunState, history,
};
use pi_subagents_vocabulary::{
    LAST_TEXT_LIMIT, RunId, RunSummary, SessionId, Status, Task, Timestamp, Usage, text,
};

use super::{Artifacts, RowEnd, RowOwner, RunRow};
use crate::away::Away;
use crate::entries::{BegunRun, Entry};
use crate::missing_record::LostRecord;
use crate::owned::OwnerProcess as _;
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

fn shown_task(prompt: &str) -> String {
    text::cut_characters(prompt, SHOWN_TASK)
}

impl RunRow {
    /// Makes the row of a run that is in the index, without its record.
    pub fn of_index(run: &IndexedRun) -> Self {
        let ids = (run.run.clone(), run.session.clone());
        let mut row = Self::named(ids, run.name.clone(), run.accepted_at);
        row.preset.clone_from(&run.preset);
        row.resolved_model.clone_from(&run.model);
        row.owner = Some(RowOwner::of_index(run));
        row.take_state(run.state);
        row
    }

    /// Makes the row of a run that is in the index and whose record was read. If both know of an
    /// end, the index counts; its line is written last.
    pub fn of_index_and_record(run: &IndexedRun, record: &RecordedRun) -> Self {
        let mut row = Self {
            owner: Some(RowOwner::of_index(run)),
            ..Self::of_record(record)
        };
        row.take_state(run.state);
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
        let task = &record.task;
        let detached = record.owner.detached.as_ref();
        let mut row = Self {
            task: Some(task.prompt.clone()),
            runner: record.runner.clone(),
            requested_model: record.requested_model.clone(),
            resolved_model: record.model.clone(),
            artifacts: Some(Box::new(Artifacts::of(&record.directory))),
            workspace: Workspace::read(record.directory.path()).map(Box::new),
            away: away(record),
            pi_session: detached.and_then(|detached| detached.pi_session.clone()),
            status: Status::Running,
            owner: Some(RowOwner::of_record(record)),
            ..Self::of_task(task, record.accepted_at)
        };
        if let Some(end) = &record.end {
            row.take_end(end);
        }
        if row.has_long_output() {
            // The result has the beginning of a very long answer, and the events have all of it.
            let whole = history(&record.directory).ok();
            row = row.with_output(whole.and_then(|whole| whole.output()));
        }
        let paths = row.workspace.as_deref().and_then(Workspace::changed_paths);
        if let (Some(receipt), Some(paths)) = (&mut row.end.receipt, paths) {
            receipt.files.take_worktree(paths);
        }
        row
    }

    /// Makes the row of a task that was just accepted. The prompt is left out: a pi may live for
    /// weeks and holds one row for each of its runs.
    pub(crate) fn of_task(task: &Task, accepted_at: Timestamp) -> Self {
        let ids = (task.run.clone(), task.session.clone());
        Self {
            preset: task.definition.as_ref().map(|used| used.name.clone()),
            task: Some(shown_task(&task.prompt)),
            cwd: Some(task.cwd.clone()),
            ..Self::named(ids, task.name.clone(), accepted_at)
        }
    }

    /// Makes the row of a finished run from the entry that pi's session keeps, without the
    /// messages; `None` if the times of the entry cannot be read.
    pub(crate) fn of_entry(entry: &Entry) -> Option<Self> {
        let started_at = entry.started_at()?;
        let ids = (entry.run()?, entry.session()?);
        let (usage, calls) = entry.used();
        Some(Self {
            status: entry.status(),
            task: Some(shown_task(entry.prompt())),
            end: RowEnd {
                started_at: Some(started_at),
                ended_at: entry.ended_at(),
                exit_code: Some(entry.exit_code()),
                usage: Some(usage),
                tool_calls: Some(calls),
                ..RowEnd::default()
            },
            resolved_model: entry.model().map(str::to_owned),
            ..Self::named(ids, entry.name().to_owned(), started_at)
        })
    }

    /// Makes the row of a run that has begun, and of whose end pi's session does not know.
    pub(crate) fn of_begun(begun: &BegunRun) -> Option<Self> {
        let ids = (begun.run()?, begun.session()?);
        Some(Self {
            status: Status::Aborted,
            ..Self::named(ids, begun.task_name.clone(), begun.accepted_at()?)
        })
    }

    /// Takes over the state of a run under way.
    pub(crate) fn take_summary(&mut self, summary: &RunSummary) {
        self.status = summary.status();
        self.resolved_model.clone_from(&summary.model);
        self.end.worker.clone_from(&summary.worker);
        self.end.started_at = summary.started_at.or(self.end.started_at);
        self.end.usage = Some(summary.usage);
        self.end.tool_calls = Some(summary.tool_calls);
    }

    /// Takes over the facts in the events of a run under way: whether it has a place, its model,
    /// and its usage so far.
    pub fn take_progress(&mut self, summary: &RunSummary) {
        if self.is_over() {
            return;
        }
        self.status = match summary.started_at {
            Some(_) => Status::Running,
            None => Status::Queued,
        };
        self.end.worker.clone_from(&summary.worker);
        self.end.started_at = summary.started_at;
        if let (Some(provider), Some(model)) = (&summary.provider, &summary.model) {
            self.resolved_model = Some(format!("{provider}/{model}"));
        }
        if summary.started_at.is_some() {
            self.end.usage = Some(summary.usage);
            self.end.tool_calls = Some(summary.tool_calls);
            self.end.receipt = summary.receipt().map(Box::new);
        }
    }

    /// Returns the row with the progress that another row of the same run knows.
    pub fn with_progress_of(mut self, other: &Self) -> Self {
        if !self.is_over() && !other.is_over() {
            self.status = other.status;
            self.end = other.end.clone();
            if other.resolved_model.is_some() {
                self.resolved_model.clone_from(&other.resolved_model);
            }
        }
        self
    }

    /// Marks a run as failed whose owner is gone together with the record.
    pub fn without_record(self, now: Timestamp) -> Self {
        let end = RowEnd {
            ended_at: Some(now),
            exit_code: Some(1),
            error_message: Some("owner process exited, and its record was deleted".to_owned()),
            usage: Some(Usage::default()),
            resume: Some(Advice::Resume(self.session_id.to_string()).words(Door::CommandLine)),
            ..RowEnd::default()
        };
        Self {
            status: Status::Failed,
            end,
            ..self
        }
    }

    fn named(
        (run_id, session_id): (RunId, SessionId),
        name: String,
        accepted_at: Timestamp,
    ) -> Self {
        Self {
            run_id,
            session_id,
            name,
            status: Status::Queued,
            accepted_at,
            preset: None,
            task: None,
            cwd: None,
            runner: None,
            requested_model: None,
            resolved_model: None,
            artifacts: None,
            record_problem: None,
            workspace: None,
            away: None,
            pi_session: None,
            end: RowEnd::default(),
            owner: None,
        }
    }

    fn take_state(&mut self, state: RunState) {
        match state {
            RunState::Over {
                status,
                exit_code,
                at,
                used,
            } => {
                self.status = status;
                self.end.exit_code = Some(exit_code);
                self.end.ended_at = Some(at);
                if let Some(used) = used {
                    self.end.usage.get_or_insert(used.usage);
                    self.end.tool_calls.get_or_insert(used.calls);
                }
            }
            // Its owner writes the result first, and the line of the index after it.
            RunState::Open if self.is_over() => {}
            RunState::Open => self.status = Status::Running,
        }
    }

    /// Returns whether its answer may be cut, because memory holds no more of a text.
    fn has_long_output(&self) -> bool {
        let output = self.end.output.as_ref();
        output.is_some_and(|output| output.len() > LAST_TEXT_LIMIT)
    }

    fn take_end(&mut self, end: &RecordedEnd) {
        self.status = end.status;
        if end.model.is_some() {
            self.resolved_model.clone_from(&end.model);
        }
        self.end = RowEnd {
            worker: end.worker.clone().or(self.end.worker.take()),
            started_at: end.started_at.as_ref().and_then(|at| at.parse().ok()),
            ended_at: end.ended_at.parse().ok(),
            exit_code: Some(end.exit_code),
            ending: Some(Box::new(end.ending.clone())),
            error_message: end.error_message.clone(),
            output: end.output.clone(),
            structured: end.structured.clone().map(Box::new),
            rejected: end.rejected.clone().map(Box::new),
            stop_reason: end.stop_reason.clone(),
            usage: Some(end.usage),
            tool_calls: Some(end.tool_calls),
            receipt: end.receipt.clone().map(Box::new),
            incomplete: end.incomplete.clone(),
            resume: Some(end.resume.clone()),
        };
    }
}

impl RowOwner {
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
