//! The record of a run, read from its directory without the conversation.

use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_delegation::{Ending, Receipt, Status, Task, Timestamp, Usage};

use crate::OwnerName;
use crate::format::RunResult;
use crate::record_files::{RecordError, read_meta, read_result};
use crate::run_dir::RunDir;

/// A run as its `meta.json` and its `result.json` describe it.
#[derive(Debug, Clone)]
pub struct RecordedRun {
    /// What was asked.
    pub task: Arc<Task>,
    /// Where the record is.
    pub directory: RunDir,
    /// The project its owner was started in.
    pub project: PathBuf,
    /// Who owns it, or did.
    pub owner: OwnerName,
    /// Which kind of child does it.
    pub runner: Option<String>,
    /// The model it asks for, as the caller wrote it.
    pub requested_model: Option<String>,
    /// The model that its child was started with.
    pub model: Option<String>,
    /// The agent whose sticky session it was asked to continue, if any.
    pub sticky_agent: Option<String>,
    /// When it was taken on.
    pub accepted_at: Timestamp,
    /// How it ended, if it did.
    pub end: Option<RecordedEnd>,
}

/// How a run ended and what it amounted to.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedEnd {
    /// In one word.
    pub status: Status,
    /// What a shell would expect.
    pub exit_code: i32,
    /// What went wrong.
    pub error_message: Option<String>,
    /// What it answered.
    pub output: Option<String>,
    /// The model that really answered, with its provider where that is known.
    pub model: Option<String>,
    /// Why the model stopped last.
    pub stop_reason: Option<String>,
    /// What it consumed.
    pub usage: Usage,
    /// How often a tool was called.
    pub tool_calls: usize,
    /// What was seen of it.
    pub receipt: Option<Receipt>,
    /// When its child started.
    pub started_at: Option<String>,
    /// When it was over.
    pub ended_at: String,
    /// What its record lacks, as sentences.
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
        let ending = Ending::from(result.ending);
        Self {
            status: ending.status(),
            exit_code: ending.exit_code(),
            error_message: ending.message(),
            output: result.output,
            model: match (result.provider, result.model) {
                (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
                (None, model) => model,
                (Some(_), None) => None,
            },
            stop_reason: result.stop_reason,
            usage: result.usage.into(),
            tool_calls: result.tool_calls,
            receipt: result.receipt,
            started_at: result.started_at,
            ended_at: result.ended_at,
            incomplete: result.incomplete,
            resume: result.resume,
        }
    }
}
