//! The answer to a caller of the subagent family: a status, a session id and the result.

use pi_subagents_records::transcript::NO_TEXT;
use pi_subagents_vocabulary::{Finalized, RunSummary, SessionId, Status, Task};
use serde_json::{Map, Value, json};

use super::open::agent_of;
use super::schema::SubagentCall;
use crate::answer::{Outcomes, whole_output};

/// Returns the text of the answer: one block for one task, or a block with a heading for each of
/// several, and then the notices for a person.
pub(super) fn text(call: &SubagentCall, outcomes: &Outcomes, is_new: &[bool]) -> String {
    let mut parts = Vec::new();
    let mut outputs = outcomes.shared_outputs().into_iter();
    for (index, ((task, run), is_new)) in outcomes.iter().zip(is_new).enumerate() {
        if let Some(tasks) = call.list() {
            let agent = tasks.get(index).map_or("", agent_of);
            parts.push(format!("## {}. {agent}", index + 1));
        }
        let output = outputs.next().flatten();
        let asks = outcomes.question_lines(task, run);
        if asks.is_empty() {
            parts.push(block_with(task, run, output.as_deref()));
        } else {
            parts.push(with_header("WAITING", task, &asks.join("\n")));
        }
        let answerer = run.receipt().and_then(|receipt| receipt.answerer());
        parts.extend(answerer.map(|words| format!("! {words}")));
        let worktree = outcomes.worktree(task);
        let lines = worktree.map(|worktree| worktree.lines(task.run.as_str(), outcomes.door));
        parts.extend(lines.map(|lines| lines.join("\n")));
        if let Some(notice) = notice(task, run, *is_new) {
            parts.push(format!("! {notice}"));
        }
    }
    parts.extend(outcomes.matrix().map(str::to_owned));
    let warnings = outcomes.warnings.iter().map(|text| format!("! {text}"));
    let warnings = warnings.collect::<Vec<_>>().join("\n");
    parts.extend((!warnings.is_empty()).then_some(warnings));
    parts.join("\n\n")
}

/// Returns the notices about each task for a person who does not read the text.
pub(super) fn notices(outcomes: &Outcomes, is_new: &[bool]) -> Vec<String> {
    let tasks = outcomes.iter().zip(is_new);
    tasks
        .filter_map(|((task, run), is_new)| notice(task, run, *is_new))
        .collect()
}

/// Returns the warning about a session that its caller named and that is new.
fn notice(task: &Task, run: &RunSummary, is_new: bool) -> Option<String> {
    (is_new && was_begun(run)).then(|| new_session(&task.session))
}

/// Returns whether the session was begun. A session that another run holds is not new.
fn was_begun(run: &RunSummary) -> bool {
    run.started_at.is_some()
}

/// Warns a caller who named a session that is new, in case they meant another session.
pub fn new_session(session: &SessionId) -> String {
    format!("There was no session `{session}` of this preset in this directory; it is new.")
}

/// Returns the documented header, and the result of the run.
pub fn block(task: &Task, run: &RunSummary) -> String {
    let output = whole_output(task, run);
    block_with(task, run, output.as_deref().map(str::trim_end))
}

fn block_with(task: &Task, run: &RunSummary, output: Option<&str>) -> String {
    let status = match run.status() {
        Status::Completed => "SUCCESS",
        Status::Failed | Status::Stopped => "ERROR",
        // Its end was not seen.
        Status::Queued | Status::Running => "UNKNOWN",
        Status::Waiting | Status::Parked => "WAITING",
    };
    with_header(status, task, &result(run, output))
}

fn with_header(status: &str, task: &Task, text: &str) -> String {
    let session = &task.session;
    format!("**Status:** {status}\n**Session ID:** `{session}`\n\n---\n\n{text}")
}

/// Returns the result, or the error together with the partial result.
fn result(run: &RunSummary, output: Option<&str>) -> String {
    match run.problem() {
        None => output.unwrap_or(NO_TEXT).to_owned(),
        Some(message) => match output {
            Some(output) => format!("{message}\n\nPartial result:\n\n{output}"),
            None => message,
        },
    }
}

/// Returns the fields that the family adds to the details: for one task its session and report, and
/// for every task the name of its definition.
pub(super) fn details(
    call: &SubagentCall,
    outcomes: &Outcomes,
    is_new: &[bool],
) -> Map<String, Value> {
    let mut details = Map::new();
    let presets: Vec<&str> = call.tasks().iter().map(agent_of).collect();
    details.insert("presets".to_owned(), json!(presets));
    if call.list().is_some() {
        details.insert("mode".to_owned(), "parallel".into());
        return details;
    }
    details.insert("mode".to_owned(), "single".into());
    if let Some((task, run)) = outcomes.iter().next() {
        details.insert("runId".to_owned(), task.run.as_str().into());
        details.insert("sessionId".to_owned(), task.session.as_str().into());
        details.insert("status".to_owned(), run.status().as_str().into());
        if let Some(finalized) = &run.finalized {
            details.insert("finalized".to_owned(), finalized_json(finalized));
        }
        let is_new = is_new.first().is_some_and(|is_new| *is_new) && was_begun(run);
        details.insert("isNewSession".to_owned(), is_new.into());
    }
    details
}

/// Returns the report of a child, without the fields that it left out.
fn finalized_json(finalized: &Finalized) -> Value {
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
