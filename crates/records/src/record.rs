//! The record of a run, read from its directory without the conversation.

use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_vocabulary::{RunReport, RunTerms, Status, Task, Timestamp};

use crate::OwnerName;
use crate::record_files::{RecordError, read_meta, read_result};
use crate::run_dir::RunDir;

/// A run as its `meta.json` and its `result.json` describe it.
#[derive(Debug, Clone)]
pub struct RecordedRun {
    /// The task of the run.
    pub task: Arc<Task>,
    /// The directory of the record.
    pub directory: RunDir,
    /// The project its owner was started in.
    pub project: PathBuf,
    /// The process that owns the run, or owned it.
    pub owner: OwnerName,
    /// The kind of child that does the run.
    pub runner: Option<String>,
    /// The model that its child was started with.
    pub model: Option<String>,
    /// The terms that its call has set.
    pub terms: RunTerms,
    /// The agent whose sticky session it was asked to continue, if any.
    pub sticky_agent: Option<String>,
    /// The time at which the run was accepted.
    pub accepted_at: Timestamp,
    /// The report in its `result.json`, if it has ended. It lacks what `meta.json` has.
    pub end: Option<RunReport>,
    /// The number of messages that its owner had counted when it ended.
    pub messages: usize,
}

impl RecordedRun {
    /// Reads a run from its directory.
    pub fn read(directory: &RunDir) -> Result<Self, RecordError> {
        let (meta, task) = read_meta(directory)?;
        let result = read_result(directory)?;
        Ok(Self {
            task,
            directory: directory.clone(),
            accepted_at: meta.accepted_at(),
            project: meta.project,
            owner: meta.owner,
            runner: meta.runner,
            model: meta.model,
            terms: meta.terms,
            sticky_agent: meta.sticky_agent,
            messages: result.as_ref().map_or(0, |result| result.messages),
            end: result.map(|result| result.report),
        })
    }

    /// Returns the run's state in one word.
    pub fn status(&self) -> Status {
        self.end.as_ref().map_or(Status::Running, |end| end.status)
    }

    /// Returns the report of the run, from both files.
    pub fn report(&self) -> RunReport {
        let mut report = RunReport::of_task(&self.task, self.accepted_at);
        report.status = Status::Running;
        report.runner.clone_from(&self.runner);
        if let Some(model) = &self.model {
            report.set_full_model(model);
        }
        if let Some(end) = &self.end {
            report.take_end(end);
        }
        report
    }
}
