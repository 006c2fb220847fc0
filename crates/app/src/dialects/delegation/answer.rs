//! What a caller of the delegation family is answered.

use std::sync::Arc;

use pi_subagents_delegation::{Ending, RunSummary, Task, Timestamp, Usage};
use pi_subagents_sessions::Recorder;
use serde_json::{Value, json};

use super::details::WindowRecord;
use crate::toolbox::ToolAnswer;

/// The outcomes of a call, with what could not be written of them.
pub(crate) struct Answer {
    outcomes: Vec<Arc<RunSummary>>,
    windows: WindowRecord,
    warnings: Vec<String>,
}

impl Answer {
    pub(crate) fn new(
        outcomes: Vec<Arc<RunSummary>>,
        windows: WindowRecord,
        mut warnings: Vec<String>,
        recorder: &Recorder,
    ) -> Self {
        for task in outcomes.iter().filter_map(|run| run.task.as_ref()) {
            let problems = recorder.problems(&task.run).into_iter();
            warnings.extend(problems.map(|problem| format!("{}: {problem}", task.name)));
        }
        for run in &outcomes {
            let name = run.task.as_ref().map_or("", |task| &task.name);
            warnings.extend(run.warnings.iter().map(|text| format!("{name}: {text}")));
        }
        Self {
            outcomes,
            windows,
            warnings,
        }
    }

    pub(crate) fn exit_codes(&self) -> impl Iterator<Item = i32> {
        self.outcomes
            .iter()
            .map(|run| run.ending.as_ref().map_or(1, Ending::exit_code))
    }

    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    pub(crate) fn outcomes(&self) -> &[Arc<RunSummary>] {
        &self.outcomes
    }

    /// One line per task, in their order, and one per warning.
    pub(crate) fn text(&self) -> String {
        let lines = self
            .outcomes
            .iter()
            .filter_map(|run| Some(summary_line(run.task.as_ref()?, run)));
        let warnings = self.warnings.iter().map(|warning| format!("! {warning}"));
        lines.chain(warnings).collect::<Vec<_>>().join("\n")
    }

    /// The tool's answer.
    pub(crate) fn to_tool_answer(&self) -> ToolAnswer {
        let mut details = self.windows.json(true);
        details.insert("runs".to_owned(), self.runs_json().into());
        details.insert("warnings".to_owned(), json!(self.warnings));
        ToolAnswer {
            text: self.text(),
            details: details.into(),
            usage: Some(self.outcomes.iter().map(|run| run.usage).sum()),
        }
    }

    /// One object per task, in their order.
    pub(crate) fn runs_json(&self) -> Vec<Value> {
        self.outcomes
            .iter()
            .filter_map(|run| Some(run_json(run.task.as_ref()?, run)))
            .collect()
    }
}

fn summary_line(task: &Task, run: &RunSummary) -> String {
    let (name, session) = (&task.name, &task.session);
    let profile = task
        .definition
        .as_ref()
        .map_or(String::new(), |used| format!(" ({})", used.summary));
    match run.ending.as_ref().and_then(Ending::message) {
        None => format!("✓ {name}: completed (session: {session}){profile}"),
        Some(message) => {
            // One task, one line, whatever a provider says.
            let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("✗ {name}: error — {message} (session: {session}){profile}")
        }
    }
}

fn run_json(task: &Task, run: &RunSummary) -> Value {
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    json!({
        "name": task.name,
        "runId": task.run.as_str(),
        "sessionId": task.session.as_str(),
        "status": run.status().as_str(),
        "exitCode": run.ending.as_ref().map(Ending::exit_code),
        "errorMessage": run.ending.as_ref().and_then(Ending::message),
        "output": run.output(),
        "runner": run.runner.map(pi_subagents_delegation::Runner::as_str),
        "provider": run.provider,
        "model": run.model,
        "stopReason": run.stop_reason.as_ref().map(pi_subagents_delegation::StopReason::as_word),
        "usage": usage_json(run.usage),
        "toolCalls": run.tool_calls,
        "startedAt": time(run.started_at),
        "endedAt": time(run.ended_at),
        "directory": task.directory,
    })
}

fn usage_json(usage: Usage) -> Value {
    json!({
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "totalTokens": usage.total(),
        "cost": usage.cost,
    })
}
