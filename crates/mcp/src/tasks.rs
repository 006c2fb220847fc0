//! Tasks of the protocol: calls that a client does not wait for. It asks for their state.
//!
//! A task is the record of a call that a detached process does. It outlives this server, and every
//! later server of the same user answers for it.

use std::time::Duration;

use pi_subagents_calls::detached_process::{CallRecord, KEPT};
use pi_subagents_calls::questions::RunQuestion;
use pi_subagents_vocabulary::Timestamp;
use rmcp::model::{
    CallToolResult, DetailedTask, ErrorData, InputRequests, JsonObject, Task, TaskPayload,
    TaskStatus,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::elicitation::{ELICIT, form};
use crate::protocol_lists::{answered, object as fields_of, refused};

/// The pauses that a client should make between two questions: the shortest and the longest.
const SOONEST: Duration = Duration::from_millis(200);
const LATEST: Duration = Duration::from_secs(5);

/// Returns the task of a call that has just begun.
pub(crate) fn begun(record: &CallRecord) -> Task {
    described(record, record.began_at).task
}

/// Describes how a call stands, with its answer if it has ended.
pub(crate) fn described(record: &CallRecord, now: Timestamp) -> DetailedTask {
    let mut task = Task::new(
        record.id(),
        TaskStatus::Working,
        record.began_at.to_string(),
        record.changed_at.to_string(),
    );
    task.status_message.clone_from(&record.news.message);
    let payload = match &record.answer {
        Some(answer) => {
            let taken = since(record.began_at, record.changed_at);
            task.ttl_ms = Some(milliseconds(taken + KEPT));
            if record.is_cancelled() {
                // A task that was cancelled has no answer, so its message names what is left.
                task.status_message = Some(answer.text.clone());
                TaskPayload::Cancelled
            } else {
                let result = answer_of(record);
                TaskPayload::Completed { result }
            }
        }
        None if record.is_lost() => failed(lost_words(record)),
        None => {
            let pause = (since(record.began_at, now) / 10).clamp(SOONEST, LATEST);
            task.poll_interval_ms = Some(milliseconds(pause));
            let input_requests = requests_of(record);
            if input_requests.is_empty() {
                TaskPayload::Working
            } else {
                TaskPayload::InputRequired { input_requests }
            }
        }
    };
    DetailedTask::new(task, payload)
}

/// Describes a task of which nothing is known. For its client it has ended: a client that gets an
/// error instead may take the task for one that goes on, and ask for minutes.
pub(crate) fn unknown(id: &str) -> DetailedTask {
    let now = Timestamp::now().to_string();
    let task = Task::new(id, TaskStatus::Failed, now.clone(), now);
    let message = format!(
        "There is no task {id}, or it ended more than a week ago. subagent_runs with includeCompleted lists the runs you have started, with their session ids."
    );
    DetailedTask::new(task, failed(message))
}

/// Returns the answer of a call that has ended, as the call itself would have returned it.
fn answer_of(record: &CallRecord) -> JsonObject {
    let Some(answer) = record.answer.clone() else {
        return JsonObject::new();
    };
    let details = fields_of(answer.details);
    let result: CallToolResult = if answer.is_refused {
        refused(answer.text, details)
    } else {
        answered(answer.text, details)
    };
    object(&result)
}

/// Returns the questions of a call for the client's person, each under its id. A secret is asked for
/// in no form.
fn requests_of(record: &CallRecord) -> InputRequests {
    let questions = record.news.questions.iter();
    let questions = questions.filter(|asked| !asked.question.secret);
    let request = |asked: &RunQuestion| {
        let request = json!({"method": ELICIT, "params": form(asked)});
        Some((
            asked.question.id.to_string(),
            serde_json::from_value(request).ok()?,
        ))
    };
    questions.filter_map(request).collect()
}

/// Says what is left of a call whose process was killed.
fn lost_words(record: &CallRecord) -> String {
    let sessions = record.runs.iter();
    let sessions: Vec<String> = sessions
        .map(|run| format!("{} (session: {})", run.name, run.session))
        .collect();
    if sessions.is_empty() {
        return "The call did not begin: its server ended first. Call again.".to_owned();
    }
    format!(
        "The process that worked on this call is gone: {}. subagent_runs with action output reads what a session has said, and delegate_to_subagents with resume continues it.",
        sessions.join(", ")
    )
}

fn failed(message: String) -> TaskPayload {
    TaskPayload::Failed {
        error: object(&ErrorData::internal_error(message, None)),
    }
}

fn since(from: Timestamp, to: Timestamp) -> Duration {
    to.duration_since(from).try_into().unwrap_or_default()
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn object(value: &impl Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        // The protocol's library writes every answer and every error as an object.
        Ok(_) | Err(_) => JsonObject::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pi_subagents_calls::detached_process::AnsweredCall;

    use super::*;

    fn begin(home: &Path) -> CallRecord {
        CallRecord::begin(home).unwrap()
    }

    #[test]
    fn a_task_works_and_ends_with_its_answer_or_cancelled() {
        let home = tempfile::tempdir().unwrap();
        let now = Timestamp::now();
        let mut record = begin(home.path());
        assert_eq!(described(&record, now).status(), TaskStatus::Working);
        let answer = AnsweredCall::refused("no such thing".to_owned());
        record.end(answer).unwrap();
        let over = described(&record, now);
        assert!(over.task.ttl_ms >= Some(milliseconds(KEPT)));
        let TaskPayload::Completed { result } = over.payload else {
            panic!("{over:?}");
        };
        assert_eq!(result["isError"], true);
        record.cancel().unwrap();
        let over = described(&record, now);
        assert_eq!(over.status(), TaskStatus::Cancelled);
        assert_eq!(over.task.status_message.as_deref(), Some("no such thing"));
    }

    #[test]
    fn clients_ask_less_often_the_longer_it_takes() {
        let home = tempfile::tempdir().unwrap();
        let record = begin(home.path());
        let pauses = [0, 5, 20, 3600].map(|taken| {
            let now = record.began_at + Duration::from_secs(taken);
            described(&record, now).task.poll_interval_ms
        });
        assert_eq!(pauses, [200, 500, 2000, 5000].map(Some));
    }

    #[test]
    fn a_task_that_nobody_knows_has_failed_for_good() {
        assert_eq!(unknown("x").status(), TaskStatus::Failed);
    }
}
