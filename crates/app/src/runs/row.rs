//! A run as `status`, `background_agent_status` and the entries of a pi session tell of it.

use std::path::PathBuf;

use pi_subagents_delegation::{Status, Timestamp, Usage, text};
use pi_subagents_sessions::{RecordedEnd, RecordedRun, RunDir};
use serde::{Deserialize, Serialize};

/// How much of an answer is kept where the record itself is not far.
const SHORT_OUTPUT: usize = 2000;

/// A run with what was asked and, once it is over, what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    pub(crate) run_id: String,
    pub(crate) session_id: String,
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) preset: Option<String>,
    pub(crate) task: String,
    pub(crate) cwd: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) runner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) requested_model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resolved_model: Option<String>,
    pub(crate) accepted_at: String,
    pub(crate) artifacts: Artifacts,
    pub(crate) status: RowStatus,
    /// The session of the pi that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pi_session: Option<String>,
    #[serde(flatten)]
    pub(crate) end: Option<RowEnd>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RowStatus {
    Running,
    Completed,
    Failed,
    Aborted,
}

/// The files of a run; each is there once there is something in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Artifacts {
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

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RowEnd {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<String>,
    pub(crate) ended_at: String,
    pub(crate) exit_code: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error_message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stop_reason: Option<String>,
    pub(crate) usage: RowUsage,
    /// What its record lacks, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) incomplete: Vec<String>,
    /// The command that continues its session.
    pub(crate) resume: String,
}

/// What a run consumed, wherever we tell it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RowUsage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    total_tokens: u64,
    /// Dollars, or null when a price is unknown.
    cost: Option<f64>,
}

impl Row {
    pub(crate) fn of(run: &RecordedRun) -> Self {
        let task = &run.task;
        let answered = run.end.as_ref().and_then(|end| end.model.clone());
        Self {
            run_id: task.run.to_string(),
            session_id: task.session.to_string(),
            name: task.name.clone(),
            preset: task.definition.as_ref().map(|used| used.name.clone()),
            task: task.prompt.clone(),
            cwd: task.cwd.clone(),
            runner: run.runner.clone(),
            requested_model: run.requested_model.clone(),
            resolved_model: answered.or_else(|| run.model.clone()),
            accepted_at: run.accepted_at.to_string(),
            artifacts: Artifacts::of(&run.directory),
            status: run.status().into(),
            pi_session: run
                .owner
                .detached
                .as_ref()
                .and_then(|detached| detached.pi_session.clone()),
            end: run.end.as_ref().map(RowEnd::of),
        }
    }

    /// The same, small enough for an entry or a list.
    pub(crate) fn shortened(mut self) -> Self {
        if let Some(end) = &mut self.end
            && let Some(output) = &mut end.output
        {
            *output = text::cut_characters(output, SHORT_OUTPUT);
        }
        self
    }

    /// As it was when it began, although it may be over by now.
    pub(crate) fn begun(self) -> Self {
        Self {
            status: RowStatus::Running,
            end: None,
            ..self
        }
    }

    /// It is over, and nobody can say more than that.
    pub(crate) fn without_record(self) -> Self {
        let end = RowEnd {
            started_at: None,
            ended_at: Timestamp::now().to_string(),
            exit_code: 1,
            error_message: Some("owner process exited, and its record is gone".to_owned()),
            output: None,
            stop_reason: None,
            usage: Usage::default().into(),
            incomplete: Vec::new(),
            resume: format!("pi-subagents resume {} PROMPT", self.session_id),
        };
        Self {
            status: RowStatus::Failed,
            end: Some(end),
            ..self
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.status != RowStatus::Running
    }

    /// What a person knows it by.
    pub(crate) fn known_as(&self) -> &str {
        self.preset.as_deref().unwrap_or(&self.name)
    }

    pub(crate) fn directory(&self) -> RunDir {
        RunDir::new(&self.artifacts.directory)
    }
}

impl RowEnd {
    fn of(end: &RecordedEnd) -> Self {
        Self {
            started_at: end.started_at.clone(),
            ended_at: end.ended_at.clone(),
            exit_code: end.exit_code,
            error_message: end.error_message.clone(),
            output: end.output.clone(),
            stop_reason: end.stop_reason.clone(),
            usage: end.usage.into(),
            incomplete: end.incomplete.clone(),
            resume: end.resume.clone(),
        }
    }
}

impl RowStatus {
    pub(crate) fn as_str(self) -> &'static str {
        Status::from(self).as_str()
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

impl From<Status> for RowStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Queued | Status::Running => Self::Running,
            Status::Completed => Self::Completed,
            Status::Failed => Self::Failed,
            Status::Aborted => Self::Aborted,
        }
    }
}

impl From<RowStatus> for Status {
    fn from(status: RowStatus) -> Self {
        match status {
            RowStatus::Running => Self::Running,
            RowStatus::Completed => Self::Completed,
            RowStatus::Failed => Self::Failed,
            RowStatus::Aborted => Self::Aborted,
        }
    }
}

impl From<Usage> for RowUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            total_tokens: usage.total(),
            cost: usage.cost,
        }
    }
}
