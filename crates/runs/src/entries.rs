//! The custom entry that pi's session keeps of a finished run, small enough to be stored. (The
//! entry of a run that begins is in `begin_entry.rs`, those of background runs in `background.rs`.)
//!
//! The run directory has everything; an entry is for the day when that directory is gone, or when
//! the session is opened on another machine.

mod background;
mod begin_entry;
mod entry_usage;
mod messages;
mod storable;
#[cfg(test)]
mod stored_tests;

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use pi_subagents_vocabulary::child_protocol::{ChildLine, decode};
use pi_subagents_vocabulary::{
    Ending, FINALIZE_TOOL, Happening, Interruption, ModelChoice, RunEvent, RunHistory, RunId,
    RunReport, SessionId, Task, Timestamp, Usage, UsedDefinition,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::row::shown_task;

pub use background::{
    ASK_MESSAGE, Asks, DONE_MESSAGE, Done, KeptBackgroundRuns, RUN_ENTRY, UPDATE_ENTRY, begin_of,
    end_of,
};
pub use begin_entry::{BEGUN_TYPE, BeginEntry};
pub use messages::EntryMessages;

/// The type of our entries.
pub const ENTRY_TYPE: &str = "pi-subagents";

/// The length of the longest id.
const LONGEST_ID: usize = 64;

/// A finished run, as pi's session keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndEntry {
    session_id: String,
    /// Sessions that the first implementation has written lack it.
    #[serde(default)]
    run_id: String,
    task_name: String,
    #[serde(default)]
    prompt: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profile_name: Option<String>,
    status: EntryStatus,
    /// True if somebody ended the run; the status is `error` then too.
    #[serde(default, skip_serializing_if = "is_false")]
    aborted: bool,
    #[serde(default)]
    exit_code: Option<i32>,
    /// In milliseconds, as JavaScript counts.
    started_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended_at: Option<i64>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
    #[serde(default)]
    messages: Vec<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EntryStatus {
    Running,
    Completed,
    Error,
}

impl EndEntry {
    /// Reads `{customType, data}`; `None` if it is no entry of ours or cannot be read.
    pub fn read(entry: &Value) -> Option<Self> {
        if entry.get("customType")?.as_str()? != ENTRY_TYPE {
            return None;
        }
        let mut entry = Self::deserialize(entry.get("data")?).ok()?;
        SessionId::parse(&entry.session_id).ok()?;
        if entry.run_id.is_empty() {
            // The same every time it is read, and another one for each run of a session.
            entry.run_id = format!("old-{}-{}", entry.started_at, entry.session_id);
            entry.run_id.truncate(LONGEST_ID);
        }
        RunId::parse(&entry.run_id).ok()?;
        Some(entry)
    }

    /// Returns the entry as pi stores it.
    pub fn to_json(&self) -> Value {
        json!(self)
    }

    pub(crate) fn session(&self) -> Option<SessionId> {
        SessionId::parse(&self.session_id).ok()
    }

    pub fn run(&self) -> Option<RunId> {
        RunId::parse(&self.run_id).ok()
    }

    pub fn name(&self) -> &str {
        &self.task_name
    }

    /// Returns the usage of its answers and the number of its tool calls, as far as the entry has
    /// them.
    fn used(&self) -> (Usage, usize) {
        entry_usage::used(&self.messages)
    }

    /// Returns the report of the run, as far as the entry has it; `None` if its times or ids cannot
    /// be read.
    pub(crate) fn report(&self) -> Option<RunReport> {
        let started_at = self.started_at()?;
        let (run, session) = (self.run()?, self.session()?);
        let (usage, calls) = self.used();
        let mut report = RunReport::new(run, session, self.task_name.clone(), started_at);
        report.take_ending(self.ending());
        report.exit_code = Some(self.exit_code());
        report.agent.clone_from(&self.profile_name);
        report.task = Some(shown_task(&self.prompt));
        report.cwd.clone_from(&self.cwd);
        report.model.clone_from(&self.model);
        report.started_at = Some(started_at);
        report.ended_at = self.ended_at();
        report.usage = Some(usage);
        report.tool_calls = Some(calls);
        Some(report)
    }

    pub(crate) fn started_at(&self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.started_at).ok()
    }

    pub(crate) fn ended_at(&self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.ended_at?).ok()
    }

    /// Says how it ended, in a word or a sentence.
    pub fn outcome(&self) -> String {
        let message = self.ending().message();
        message.unwrap_or_else(|| "completed".to_owned())
    }

    /// Returns the exit code it was stored with.
    pub(crate) fn exit_code(&self) -> i32 {
        self.exit_code.unwrap_or_else(|| self.ending().exit_code())
    }

    /// Returns its ending. An entry of a run under way was left by a pi that is gone.
    fn ending(&self) -> Ending {
        match self.status {
            EntryStatus::Completed => Ending::Completed,
            EntryStatus::Running => Ending::Interrupted(Interruption::OwnerGone),
            EntryStatus::Error if self.aborted => self.abortion(),
            EntryStatus::Error => Ending::ModelError {
                message: self
                    .error_message
                    .clone()
                    .unwrap_or_else(|| "The sub-agent failed.".to_owned()),
            },
        }
    }

    /// Returns who ended it, as its exit code shows.
    fn abortion(&self) -> Ending {
        match self.exit_code {
            Some(code) if code == Ending::Stopped.exit_code() => Ending::Stopped,
            Some(code @ 129..) => Ending::Interrupted(Interruption::Signal(code - 128)),
            Some(_) | None => Ending::Interrupted(Interruption::OwnerGone),
        }
    }

    /// Returns its messages, as far as the entry has them.
    pub(crate) fn history(&self) -> RunHistory {
        let at = self.started_at().unwrap_or_default();
        let (Some(run), Some(session)) = (self.run(), self.session()) else {
            return RunHistory::default();
        };
        let task = Task {
            definition: self.profile_name.clone().map(|name| UsedDefinition {
                summary: name.clone(),
                name,
                model: ModelChoice::Inherit,
                file: None,
            }),
            ..Task::new(
                run.clone(),
                session,
                self.task_name.clone(),
                self.prompt.clone(),
                self.cwd.clone().unwrap_or_default(),
            )
        };
        let accepted = [Happening::Accepted(Arc::new(task))];
        let prompt = self.prompt_if_gone();
        let messages = prompt.iter().chain(&self.messages);
        let said = messages.flat_map(events_of_message);
        let happenings = accepted.into_iter().chain(said);
        let events = happenings.chain([Happening::Ended(self.ending())]);
        let mut history = RunHistory::default();
        for happening in events {
            history.apply(&RunEvent {
                run: run.clone(),
                at,
                happening,
            });
        }
        history
    }

    /// Returns the prompt if it was dropped with other old messages. The first message of a user
    /// is taken for the prompt.
    fn prompt_if_gone(&self) -> Option<Value> {
        let is_there = self
            .messages
            .first()
            .is_some_and(|first| first.get("role").is_some_and(|role| role == "user"));
        let prompt = || json!({"role": "user", "content": [{"type": "text", "text": self.prompt}]});
        (!is_there && !self.prompt.is_empty()).then(prompt)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Makes the events of a stored message; a report needs a second event, which marks it.
fn events_of_message(message: &Value) -> impl Iterator<Item = Happening> {
    let report = message
        .get("toolName")
        .is_some_and(|tool| tool == FINALIZE_TOOL)
        .then(|| {
            json!({
                "type": "tool_execution_end",
                "toolCallId": message["toolCallId"],
                "toolName": FINALIZE_TOOL,
                "result": {"details": message["details"]},
                "isError": message["isError"],
            })
        });
    let message = json!({"type": "message_end", "message": message});
    [Some(message), report]
        .into_iter()
        .flatten()
        .filter_map(|record| {
            let line = record.to_string();
            match decode(line.as_bytes()) {
                ChildLine::Record(record) => Some(Happening::Said {
                    line: Bytes::from(line),
                    record,
                }),
                ChildLine::Text => None,
            }
        })
}
