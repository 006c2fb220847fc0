//! A run as every list and every program gets it. The same JSON is printed by `status`, `wait`,
//! `stop` and `spawn`, and by the tools about runs; a field is there as soon as it is known.

mod lines;
mod made;
mod outcome;
#[cfg(test)]
mod tests;
mod totals;

use std::path::PathBuf;

use pi_subagents_records::{Findable, FindableFacts, RunDir, RunIds};
use pi_subagents_vocabulary::{
    Ending, Receipt, Rejected, RunId, SessionId, Status, Timestamp, Usage, text,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::totals::RowTotals;
use crate::away::Away;
use crate::workspace::Workspace;

/// The number of characters of an answer that are kept if the record itself is not far.
const SHORT_OUTPUT: usize = 2000;

/// One run, with the facts of the index, of its record and of a session of pi. A list may have ten
/// thousand rows, and few of them have more than the index knows: the large parts are kept apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRow {
    pub run_id: RunId,
    pub session_id: SessionId,
    pub name: String,
    pub status: Status,
    pub accepted_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_model: Option<String>,
    /// The model that answered, or that the child was started with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<Box<Artifacts>>,
    /// The reason why the record cannot be read, if it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_problem: Option<String>,
    /// The worktree of its own, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Box<Workspace>>,
    /// The absence of its fleet's servers, while they are away or if nobody waits for them any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<Away>,
    /// The session of the pi that started it, for a background run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pi_session: Option<String>,
    #[serde(flatten)]
    pub end: RowEnd,
    /// Left out in the entries of pi's session, which do not need it.
    #[serde(flatten)]
    pub owner: Option<RowOwner>,
}

/// The outcome of a run, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RowEnd {
    /// The worker of a fleet that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The time at which its child started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The ending; the index alone knows only its status and its exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<Box<Ending>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The result that meets the schema of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) structured: Option<Box<Value>>,
    /// The best of the results that do not meet it, if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rejected: Option<Box<Rejected>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The number of its tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<usize>,
    /// The receipt of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Box<Receipt>>,
    /// The parts that its record lacks, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<String>,
    /// The command that continues its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
}

/// The owner of a run, and the place of its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RowOwner {
    pub background: bool,
    pub(crate) project: PathBuf,
    pub owner_pid: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub owner_stopped: bool,
    pub(crate) directory: PathBuf,
}

/// The files of a run; each is there once there is something in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifacts {
    pub(crate) directory: PathBuf,
    meta: PathBuf,
    events: PathBuf,
    result: PathBuf,
    stdout: PathBuf,
    stderr: PathBuf,
    transcript: PathBuf,
    child_session: PathBuf,
    system_prompt: PathBuf,
}

impl RunRow {
    /// Cuts the answer and the receipt to a size that an entry or a list can hold.
    pub fn shortened(mut self) -> Self {
        let shorten = |output: String| text::cut_characters(&output, SHORT_OUTPUT);
        self.end.output = self.end.output.map(shorten);
        // They are in the record whole.
        self.end.structured = None;
        self.end.rejected = None;
        self.end.receipt = self
            .end
            .receipt
            .map(|receipt| Box::new(receipt.shortened()));
        self
    }

    /// Leaves out who owns the run: neither pi's session nor `background_agent_status` names it.
    pub fn without_owner(self) -> Self {
        Self {
            owner: None,
            ..self
        }
    }

    /// Returns whether the run has ended.
    pub fn is_over(&self) -> bool {
        self.status.is_over()
    }

    /// Returns the directory of the record, if the run has one.
    pub fn directory(&self) -> Option<RunDir> {
        let artifacts = self.artifacts.as_ref().map(|files| &files.directory);
        let owner = self.owner.as_ref().map(|owner| &owner.directory);
        artifacts.or(owner).map(RunDir::new)
    }
}

impl RunIds for RunRow {
    fn run_id(&self) -> &RunId {
        &self.run_id
    }

    fn session_id(&self) -> &SessionId {
        &self.session_id
    }
}

impl Findable for RunRow {
    fn facts(&self) -> FindableFacts<'_> {
        FindableFacts {
            name: &self.name,
            definition: self.preset.as_deref(),
            project: self.owner.as_ref().map(|owner| owner.project.as_path()),
            accepted_at: self.accepted_at,
            is_open: !self.is_over(),
        }
    }
}

impl Artifacts {
    pub(crate) fn of(directory: &RunDir) -> Self {
        Self {
            directory: directory.path().to_owned(),
            meta: directory.meta(),
            events: directory.events(),
            result: directory.result(),
            stdout: directory.stdout(),
            stderr: directory.stderr(),
            transcript: directory.transcript(),
            child_session: directory.child_session(),
            system_prompt: directory.system_prompt(),
        }
    }
}
