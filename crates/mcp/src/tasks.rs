//! Calls that a client does not wait for: it asks for their state, as the tasks extension wants it.
//!
//! A task is a view on a call under way and lives as long as this process. Nothing of it is written
//! down: the runs of the call keep their own records.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pi_subagents_calls::progress::OnCallProgress;
use rmcp::model::{
    CallToolResult, DetailedTask, ErrorData, JsonObject, Task, TaskPayload, TaskStatus,
};
use rmcp::task_manager::current_timestamp;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The largest number of tasks that are under way at once.
const MOST_UNDER_WAY: usize = 64;

/// The number of bytes that the answers of finished tasks may hold together. If there are more, the
/// oldest answers are dropped before their time.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The bytes that a task takes beside its answer, roughly.
const TASK_BYTES: usize = 1024;

/// The time for which the answer of a task is kept for its client.
const KEPT: Duration = Duration::from_hours(1);

/// The pauses that a client should make between two questions: the shortest and the longest.
const SOONEST: Duration = Duration::from_millis(200);
const LATEST: Duration = Duration::from_secs(5);

/// The tasks of a client, the oldest first.
#[derive(Clone, Default)]
pub(crate) struct Tasks {
    held: Arc<Mutex<VecDeque<HeldTask>>>,
}

struct HeldTask {
    id: String,
    began: Instant,
    began_at: String,
    standing: watch::Receiver<Standing>,
    cancelled: CancellationToken,
}

/// The state of a task.
#[derive(Debug, Clone)]
struct Standing {
    message: Option<String>,
    changed_at: String,
    end: Option<End>,
}

/// The end of a task.
#[derive(Debug, Clone)]
struct End {
    at: Instant,
    payload: TaskPayload,
    bytes: usize,
}

/// A task that has begun, for the code that does its work.
pub(crate) struct BegunTask {
    /// The task as its client sees it.
    pub(crate) task: Task,
    /// Is cancelled when the client wants the task to end.
    pub(crate) cancelled: CancellationToken,
    standing: watch::Sender<Standing>,
}

impl Tasks {
    /// Begins a task, unless too many are under way.
    pub(crate) fn begin(&self) -> Option<BegunTask> {
        let now = Instant::now();
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut held, now, MOST_BYTES);
        if held.iter().filter(|task| !task.is_over()).count() >= MOST_UNDER_WAY {
            return None;
        }
        let began_at = current_timestamp();
        let (sender, standing) = watch::channel(Standing {
            message: None,
            changed_at: began_at.clone(),
            end: None,
        });
        let task = HeldTask {
            id: Uuid::now_v7().to_string(),
            began: now,
            began_at,
            standing,
            cancelled: CancellationToken::new(),
        };
        let begun = BegunTask {
            task: task.described(now).task,
            cancelled: task.cancelled.clone(),
            standing: sender,
        };
        held.push_back(task);
        Some(begun)
    }

    /// Returns the state of a task, with its answer if it is over.
    pub(crate) fn get(&self, id: &str) -> Result<DetailedTask, ErrorData> {
        let now = Instant::now();
        self.with(id, now, |task| task.described(now))
    }

    /// Lets a task end early. A task that is over stays as it is.
    pub(crate) fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        self.with(id, Instant::now(), |task| task.cancelled.cancel())
    }

    fn with<T>(
        &self,
        id: &str,
        now: Instant,
        use_it: impl FnOnce(&HeldTask) -> T,
    ) -> Result<T, ErrorData> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut held, now, MOST_BYTES);
        let found = held.iter().find(|task| task.id == id);
        found.map(use_it).ok_or_else(|| {
            let message = format!(
                "There is no task {id}. The answer of a task is kept for an hour after its end, as long as the server runs and newer answers leave room for it."
            );
            ErrorData::invalid_params(message, None)
        })
    }
}

/// Forgets the tasks that nobody may ask for any more, then the oldest answers that are too many.
fn make_room(held: &mut VecDeque<HeldTask>, now: Instant, most_bytes: usize) {
    held.retain(|task| !task.is_expired(now));
    let mut bytes: usize = held.iter().map(HeldTask::bytes).sum();
    held.retain(|task| {
        let stays = bytes <= most_bytes || !task.is_over();
        if !stays {
            bytes -= task.bytes();
        }
        stays
    });
}

impl HeldTask {
    /// Returns the bytes that this task takes of the room for finished tasks: none before its end.
    fn bytes(&self) -> usize {
        self.standing
            .borrow()
            .end
            .as_ref()
            .map_or(0, |end| end.bytes)
    }

    /// Returns whether nothing more comes: the task has ended, or its work broke off.
    fn is_over(&self) -> bool {
        self.standing.borrow().end.is_some() || self.standing.has_changed().is_err()
    }

    fn is_expired(&self, now: Instant) -> bool {
        let standing = self.standing.borrow();
        standing
            .end
            .as_ref()
            .is_some_and(|end| now.saturating_duration_since(end.at) >= KEPT)
    }

    fn described(&self, now: Instant) -> DetailedTask {
        // The check whether the work broke off comes first, so that an end that comes between the
        // two is not missed.
        let broke_off = self.standing.has_changed().is_err();
        let standing = self.standing.borrow().clone();
        let mut task = Task::new(
            self.id.clone(),
            TaskStatus::Working,
            self.began_at.clone(),
            standing.changed_at,
        );
        task.status_message = standing.message;
        let payload = match standing.end {
            Some(end) => {
                task.ttl_ms = Some(milliseconds(end.at - self.began + KEPT));
                end.payload
            }
            None if broke_off => TaskPayload::Failed {
                error: object(&ErrorData::internal_error(
                    "The call broke off; this is a bug.",
                    None,
                )),
            },
            None => {
                task.poll_interval_ms = Some(milliseconds(pause(now - self.began)));
                TaskPayload::Working
            }
        };
        DetailedTask::new(task, payload)
    }
}

impl BegunTask {
    /// Returns the function that the work calls with its progress.
    pub(crate) fn on_progress(&self) -> OnCallProgress {
        let standing = self.standing.clone();
        Box::new(move |progress| {
            standing.send_modify(|standing| {
                standing.message = Some(progress.message);
                standing.changed_at = current_timestamp();
            });
        })
    }

    /// Ends the task with the answer of its call. A task that was cancelled has no answer, so its
    /// message names what is left of it.
    pub(crate) fn end(self, answer: &CallToolResult) {
        let is_cancelled = self.cancelled.is_cancelled();
        self.standing.send_modify(|standing| {
            standing.changed_at = current_timestamp();
            let (payload, bytes) = if is_cancelled {
                let text = text_of(answer);
                let bytes = text.len();
                standing.message = Some(text);
                (TaskPayload::Cancelled, bytes)
            } else {
                standing.message = None;
                let result = object(answer);
                let bytes = serde_json::to_string(&result).map_or(0, |text| text.len());
                (TaskPayload::Completed { result }, bytes)
            };
            standing.end = Some(End {
                at: Instant::now(),
                payload,
                bytes: bytes + TASK_BYTES,
            });
        });
    }
}

/// Returns the words of an answer.
fn text_of(answer: &CallToolResult) -> String {
    let texts = answer.content.iter().filter_map(|block| block.as_text());
    texts.map(|text| text.text.as_str()).collect()
}

/// Returns how long a client should wait before it asks again: a tenth of the time the task has
/// taken, so that a client learns of the end soon after it.
fn pause(taken: Duration) -> Duration {
    (taken / 10).clamp(SOONEST, LATEST)
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
    use super::*;
    use crate::listing::answered;

    fn answer(text: &str) -> CallToolResult {
        answered(text.to_owned(), None)
    }

    #[test]
    fn only_those_under_way_are_counted() {
        let tasks = Tasks::default();
        let mut begun: Vec<BegunTask> = (0..MOST_UNDER_WAY).filter_map(|_| tasks.begin()).collect();
        assert_eq!(begun.len(), MOST_UNDER_WAY);
        assert!(tasks.begin().is_none());
        let over = begun.remove(3);
        let id = over.task.task_id.clone();
        over.end(&answer("done"));
        for _ in 0..10 * MOST_UNDER_WAY {
            tasks.begin().unwrap().end(&answer("next"));
        }
        assert_eq!(tasks.get(&id).unwrap().status(), TaskStatus::Completed);
    }

    #[test]
    fn the_oldest_answers_make_room_for_newer_ones() {
        let tasks = Tasks::default();
        let working = tasks.begin().unwrap();
        let ids: Vec<String> = (0..3)
            .map(|_| {
                let begun = tasks.begin().unwrap();
                let id = begun.task.task_id.clone();
                begun.end(&answer(&"x".repeat(1000)));
                id
            })
            .collect();
        let mut held = tasks.held.lock().unwrap();
        let bytes: usize = held.iter().map(HeldTask::bytes).sum();
        make_room(&mut held, Instant::now(), bytes);
        assert_eq!(held.len(), 4);
        make_room(&mut held, Instant::now(), bytes - 1);
        drop(held);
        assert_eq!(tasks.get(&ids[0]).unwrap_err().code.0, -32602);
        for id in [&ids[1], &ids[2], &working.task.task_id] {
            assert!(tasks.get(id).is_ok());
        }
    }

    #[test]
    fn an_answer_is_kept_for_its_time() {
        let tasks = Tasks::default();
        let begun = tasks.begin().unwrap();
        let id = begun.task.task_id.clone();
        assert_eq!(begun.task.ttl_ms, None);
        let later = |wait| tasks.with(&id, Instant::now() + wait, HeldTask::is_over);
        assert_eq!(later(10 * KEPT), Ok(false));
        begun.end(&answer("done"));
        assert!(tasks.get(&id).unwrap().task.ttl_ms >= Some(milliseconds(KEPT)));
        assert_eq!(later(KEPT / 2), Ok(true));
        assert!(later(KEPT).is_err());
    }

    #[test]
    fn a_task_that_breaks_off_has_failed() {
        let tasks = Tasks::default();
        let begun = tasks.begin().unwrap();
        let id = begun.task.task_id.clone();
        drop(begun);
        assert_eq!(tasks.get(&id).unwrap().status(), TaskStatus::Failed);
    }

    #[test]
    fn clients_ask_less_often_the_longer_it_takes() {
        let pauses = [0, 5, 20, 3600].map(|taken| pause(Duration::from_secs(taken)).as_millis());
        assert_eq!(pauses, [200, 500, 2000, 5000]);
    }
}
