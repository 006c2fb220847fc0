//! The record of a run, read from its directory without the conversation.

use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_vocabulary::{
    Ending, Receipt, Rejected, RunTerms, Status, Task, Timestamp, Usage,
};
use serde_json::Value;

use crate::OwnerName;
use crate::format::RunResult;
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
    /// The model it asks for, as the caller wrote it.
    pub requested_model: Option<String>,
    /// The model that its child was started with.
    pub model: Option<String>,
    /// The terms that its call has set.
    pub terms: RunTerms,
    /// The agent whose sticky session it was asked to continue, if any.
    pub sticky_agent: Option<String>,
    /// The time at which the run was accepted.
    pub accepted_at: Timestamp,
    /// The end of the run, if it has ended.
    pub end: Option<RecordedEnd>,
}

/// The end of a run, with its answer and its usage.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedEnd {
    /// The status in one word.
    pub status: Status,
    /// The exit code that a shell would expect.
    pub exit_code: i32,
    /// The ending itself, from which status, exit code and error follow.
    pub ending: Ending,
    /// The error of a run that failed.
    pub error_message: Option<String>,
    /// The worker of a fleet that had it last.
    pub worker: Option<String>,
    /// The answer of the run.
    pub output: Option<String>,
    /// The result that meets the schema of the task.
    pub structured: Option<Value>,
    /// The best of the results that do not meet it, if none does.
    pub rejected: Option<Rejected>,
    /// The model that really answered, with its provider where that is known.
    pub model: Option<String>,
    /// The reason why the model stopped last.
    pub stop_reason: Option<String>,
    /// The tokens and the cost of the run.
    pub usage: Usage,
    /// The number of tool calls.
    pub tool_calls: usize,
    /// The receipt of the run.
    pub receipt: Option<Receipt>,
    /// The time at which its child started.
    pub started_at: Option<String>,
    /// The time at which the run ended.
    pub ended_at: String,
    /// The parts that are missing in its record, as sentences.
    pub incomplete: Vec<String>,
    /// The command that continues its session.
    pub resume: String,
}

impl RecordedRun {
    /// Reads a run from its directory.
    pub fn read(directory: &RunDir) -> Result<Self, RecordError> {
        let (meta, task) = read_meta(directory)?;
        Ok(Self {
            task,
            directory: directory.clone(),
            accepted_at: meta.accepted_at(),
            project: meta.project,
            owner: meta.owner,
            runner: meta.runner,
            requested_model: meta.requested_model,
            model: meta.model,
            terms: meta.terms,
            sticky_agent: meta.sticky_agent,
            end: read_result(directory)?.map(RecordedEnd::from),
        })
    }

    /// Returns the run's state in one word.
    pub fn status(&self) -> Status {
        self.end.as_ref().map_or(Status::Running, |end| end.status)
    }
}

impl From<RunResult> for RecordedEnd {
    fn from(result: RunResult) -> Self {
        let model = result.full_model();
        let ending = result.ending;
        Self {
            status: ending.status(),
            exit_code: ending.exit_code(),
            error_message: ending.message(),
            ending,
            worker: result.worker,
            output: result.output,
            structured: result.structured,
            rejected: result.rejected,
            model,
            stop_reason: result.stop_reason,
            usage: result.usage,
            tool_calls: result.tool_calls,
            receipt: result.receipt,
            started_at: result.started_at,
            ended_at: result.ended_at,
            incomplete: result.incomplete,
            resume: result.resume,
        }
    }
}
