//! The JSON of one finished task in the details of an answer.

use std::borrow::Cow;
use std::path::Path;

use pi_subagents_vocabulary::{
    Ending, Finalized, Receipt, Rejected, RunSummary, Runner, StopReason, Task, Timestamp, Usage,
};
use serde::Serialize;
use serde_json::{Value, json};

use pi_subagents_runs::workspace::Workspace;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunJson<'a> {
    name: &'a str,
    run_id: &'a str,
    session_id: &'a str,
    status: &'static str,
    exit_code: Option<i32>,
    ending: Option<&'a Ending>,
    error_message: Option<String>,
    /// Null for a run that answered nothing; left out where the door does not want it.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Value>,
    runner: Option<&'static str>,
    provider: Option<&'a str>,
    model: Option<&'a str>,
    stop_reason: Option<&'a str>,
    usage: Usage,
    tool_calls: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<Receipt>,
    started_at: Option<String>,
    ended_at: Option<String>,
    directory: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finalized: Option<Value>,
    /// The result that meets the schema of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<&'a Value>,
    /// The best of the results that do not, if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected: Option<&'a Rejected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<&'a Workspace>,
}

/// Describes the outcome of one task, with the answer of its run where the door wants it.
pub(super) fn run_json(
    task: &Task,
    run: &RunSummary,
    workspace: Option<&Workspace>,
    output: Option<Value>,
) -> Value {
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    let json = RunJson {
        name: &task.name,
        run_id: task.run.as_str(),
        session_id: task.session.as_str(),
        status: run.status().as_str(),
        exit_code: run.ending.as_ref().map(Ending::exit_code),
        ending: run.ending.as_ref(),
        error_message: run.problem(),
        output,
        runner: run.runner.map(Runner::as_str),
        provider: run.provider.as_deref(),
        model: run.model.as_deref(),
        stop_reason: run.stop_reason.as_ref().map(StopReason::as_word),
        usage: run.usage,
        tool_calls: run.tool_calls,
        receipt: run.receipt(),
        started_at: time(run.started_at),
        ended_at: time(run.ended_at),
        directory: task.directory.as_deref().map(Path::to_string_lossy),
        finalized: run.finalized.as_ref().map(finalized_json),
        structured: run.structured.as_ref(),
        rejected: run.rejected.as_ref(),
        workspace,
    };
    // JSON can express all of its values.
    serde_json::to_value(json).unwrap_or_default()
}

/// Returns the report of a child, without the fields that it left out.
pub(super) fn finalized_json(finalized: &Finalized) -> Value {
    match finalized {
        Finalized::Success { result } => json!({"status": "SUCCESS", "result": result}),
        Finalized::Error {
            error,
            result: None,
        } => json!({"status": "ERROR", "error": error}),
        Finalized::Error {
            error,
            result: Some(result),
        } => json!({"status": "ERROR", "result": result, "error": error}),
    }
}
