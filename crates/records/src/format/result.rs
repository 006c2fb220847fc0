//! `result.json`: the ending of a run, its answer and its usage.

use pi_subagents_vocabulary::Advice;
use pi_subagents_vocabulary::Door;
use pi_subagents_vocabulary::{
    Ending, Receipt, Rejected, RunSummary, StopReason, Task, Timestamp, Usage, text,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::FORMAT;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunResult {
    pub(crate) format: u32,
    pub(crate) run_id: String,
    pub(crate) session_id: String,
    pub(crate) name: String,
    pub(crate) status: String,
    pub(crate) exit_code: i32,
    pub(crate) ending: Ending,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error_message: Option<String>,
    /// The worker of a fleet that had it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) worker: Option<String>,
    /// The text of the last answer, which is the run's output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    /// The result that meets the schema of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) structured: Option<Value>,
    /// The best of the results that do not, if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rejected: Option<Rejected>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stop_reason: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) messages: usize,
    pub(crate) tool_calls: usize,
    /// The receipt of the run; `None` for a run that never got as far as an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<Receipt>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) accepted_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<String>,
    pub(crate) ended_at: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// The parts that are missing in the record, as sentences. If there are any, `output` holds the
    /// answer, because the events may lack it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) incomplete: Vec<String>,
    /// The command that continues this run's session.
    pub(crate) resume: String,
}

/// The number of bytes of an answer that a result keeps if there is little room.
const SHORT_OUTPUT: usize = 32 << 10;

impl RunResult {
    pub(crate) fn new(task: &Task, summary: &RunSummary, ending: &Ending) -> Self {
        let time = |at: Timestamp| at.to_string();
        Self {
            format: FORMAT,
            run_id: task.run.to_string(),
            session_id: task.session.to_string(),
            name: task.name.clone(),
            status: ending.status().as_str().to_owned(),
            exit_code: ending.exit_code(),
            ending: ending.clone(),
            error_message: ending.message(),
            worker: summary.worker.clone(),
            output: summary.output().map(str::to_owned),
            structured: summary.structured.clone(),
            rejected: summary.rejected.clone(),
            provider: summary.provider.clone(),
            model: summary.model.clone(),
            stop_reason: summary
                .stop_reason
                .as_ref()
                .map(|reason| StopReason::as_word(reason).to_owned()),
            usage: summary.usage,
            messages: summary.messages,
            tool_calls: summary.tool_calls,
            receipt: summary.receipt(),
            accepted_at: summary.accepted_at.map(time),
            started_at: summary.started_at.map(time),
            ended_at: time(summary.ended_at.unwrap_or_else(Timestamp::now)),
            warnings: summary.warnings.clone(),
            incomplete: Vec::new(),
            resume: Advice::Resume(task.session.to_string()).words(Door::CommandLine),
        }
    }

    /// Returns the model with its provider, as far as they are known.
    pub(crate) fn full_model(&self) -> Option<String> {
        let model = self.model.as_ref()?;
        let provider = self.provider.as_ref();
        Some(provider.map_or_else(|| model.clone(), |provider| format!("{provider}/{model}")))
    }

    /// Returns the same with as much of the answer as fits where there is little room.
    pub(crate) fn shortened(mut self) -> Self {
        if let Some(output) = self.output.take_if(|output| output.len() > SHORT_OUTPUT) {
            let bytes = output.len();
            self.output = Some(text::cut_bytes(output, SHORT_OUTPUT));
            self.incomplete
                .push(format!("its answer of {bytes} bytes was cut"));
        }
        // It is the answer once more.
        self.structured = self.structured.filter(|_| self.incomplete.is_empty());
        self.warnings.clear();
        self
    }
}
