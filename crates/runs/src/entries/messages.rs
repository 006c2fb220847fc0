//! The messages of a run → its entry.

use std::collections::VecDeque;

use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{
    Ending, Happening, MAX_MESSAGES_PER_RUN, Message, RunEvent, RunSummary, Status, StopReason,
    Timestamp,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::storable::{storable, storable_text};
use super::{EndEntry, EntryStatus};

/// The number of bytes of its messages that an entry holds.
const MESSAGE_BYTES: usize = 1 << 20;

/// The messages of a run that its entry will hold: the newest, up to a number and a size.
#[derive(Debug, Default)]
pub struct EntryMessages {
    messages: VecDeque<(usize, Value)>,
    /// The size of all messages together.
    bytes: usize,
    has_prompt: bool,
}

#[derive(Deserialize)]
struct MessageLine {
    message: Value,
}

impl EntryMessages {
    /// Adds the message of an event, if it has one. The line is parsed again, because an entry
    /// holds every field of a message and the decoded record only those that we read.
    pub fn add(&mut self, event: &RunEvent, summary: &RunSummary) {
        if let Happening::Said {
            line,
            record: ChildRecord::MessageEnded(message),
        } = &event.happening
            && !matches!(message, Message::System(_))
            && let Ok(line) = serde_json::from_slice::<MessageLine>(line)
        {
            let mut stored = storable(line.message);
            // Transcripts must not nest, so the first message is the task's own prompt, without
            // the files and the transcript that were put before it.
            if matches!(message, Message::User(_)) && !self.has_prompt {
                self.has_prompt = true;
                if let Some(task) = &summary.task {
                    let prompt = storable_text(&task.prompt);
                    stored["content"] = json!([{"type": "text", "text": prompt}]);
                }
            }
            self.keep(stored);
        }
    }

    fn keep(&mut self, message: Value) {
        let size = message.to_string().len();
        self.bytes += size;
        self.messages.push_back((size, message));
        while self.messages.len() > MAX_MESSAGES_PER_RUN
            || (self.bytes > MESSAGE_BYTES && self.messages.len() > 1)
        {
            if let Some((size, _)) = self.messages.pop_front() {
                self.bytes -= size;
            }
        }
    }

    /// Makes the entry of the run; `None` if its task is not known.
    pub fn into_entry(self, summary: &RunSummary) -> Option<EndEntry> {
        let task = summary.task.as_ref()?;
        let started_at = summary.started_at.or(summary.accepted_at)?;
        let ending = summary.ending.as_ref();
        Some(EndEntry {
            session_id: task.session.to_string(),
            run_id: task.run.to_string(),
            task_name: task.name.clone(),
            prompt: storable_text(&task.prompt),
            cwd: Some(task.cwd.clone()),
            profile_name: task.definition.as_ref().map(|used| used.name.clone()),
            status: match summary.status() {
                Status::Queued | Status::Running | Status::Waiting => EntryStatus::Running,
                Status::Completed => EntryStatus::Completed,
                Status::Parked | Status::Failed | Status::Stopped => EntryStatus::Error,
            },
            aborted: summary.status() == Status::Stopped,
            exit_code: ending.map(Ending::exit_code),
            started_at: started_at.as_millisecond(),
            ended_at: summary.ended_at.map(Timestamp::as_millisecond),
            model: summary.model.clone(),
            stop_reason: summary
                .stop_reason
                .as_ref()
                .map(|reason| StopReason::as_word(reason).to_owned()),
            error_message: summary.problem(),
            messages: self
                .messages
                .into_iter()
                .map(|(_, message)| message)
                .collect(),
        })
    }
}
