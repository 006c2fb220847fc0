//! Reads a conversation whole, with the time of each message, for `session` and `export`.

use std::sync::Arc;

use pi_subagents_records::{IndexedRun, RunDir, read_events};
use pi_subagents_view::story::{Story, What};
use pi_subagents_vocabulary::Door;
use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{
    Happening, HeldMessages, Message, RunHistory, RunSummary, SessionId, Status, Timestamp,
};
use schemars::JsonSchema;
use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

use super::log_entry::LogEntry;
use super::message_json::MessageJson;
use pi_subagents_calls::families::delegation::ReadSession;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::upkeep::tend_records;

/// A conversation that was found. Its messages are read when they are printed, one at a time, because
/// a record may be longer than the memory.
pub(crate) struct ReadConversation {
    session: ReadSession,
    /// Its runs, oldest first.
    pub(crate) runs: Vec<ReadRun>,
}

/// A run of a conversation.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReadRun {
    #[serde(flatten)]
    pub(crate) row: RunRow,
    /// Its messages, oldest first.
    #[schemars(with = "Vec<MessageJson>")]
    messages: RecordedMessages,
    /// What is known of it without its messages.
    #[serde(skip)]
    history: RunHistory,
}

/// An entry with its time.
pub(crate) struct ReadEntry {
    pub(crate) at: Timestamp,
    pub(crate) entry: LogEntry,
}

/// The messages of a recorded run, which are read while they are written.
struct RecordedMessages(RunDir);

/// The JSON of `session`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionResult<'a> {
    session_id: &'a SessionId,
    /// Its runs, oldest first, each with its messages.
    runs: &'a [ReadRun],
    /// The parts that are missing, as sentences.
    warnings: Vec<String>,
}

/// The part of a conversation that is read for the id of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The whole conversation that the run belongs to.
    Whole,
    /// The run alone.
    Meant,
}

/// Reads the conversation of an id; `command` returns the command that names a run.
pub(crate) fn read_conversation(
    places: &Places,
    id: &str,
    command: &str,
    printer: Printer,
    scope: Scope,
) -> Result<ReadConversation, CommandError> {
    let index = KnownIndex::of(places);
    tend_records(&index, places);
    let typed = TypedIds::newest(&index, places, printer);
    let found = typed
        .conversation(id)
        .map_err(|error| ask_which(&error, |run| format!("pi-subagents {command} {run}")))?;
    let session = ReadSession::read(found, HeldMessages::LastText)?;
    let session = match scope {
        Scope::Whole => session,
        Scope::Meant => session.only_meant()?,
    };
    let mut runs = Vec::new();
    for (run, history) in session.runs() {
        let Some(indexed) = run.record() else {
            continue;
        };
        runs.push(ReadRun::of(indexed, history));
    }
    Ok(ReadConversation { session, runs })
}

impl ReadConversation {
    /// Returns it for programs.
    pub(crate) fn json(&self) -> SessionResult<'_> {
        SessionResult {
            session_id: self.session.id(),
            runs: &self.runs,
            warnings: self.session.missing().into_iter().collect(),
        }
    }

    /// Returns the id of the session.
    pub(crate) fn session(&self) -> &SessionId {
        self.session.id()
    }

    /// Prints notes about missing parts, and whether more will come.
    pub(crate) fn note_state(&self, printer: Printer) {
        let session = &self.session;
        for line in session
            .missing()
            .into_iter()
            .chain(session.more_to_come(Door::CommandLine))
        {
            printer.note(&format!("! {line}"));
        }
    }
}

impl ReadRun {
    fn of(run: &IndexedRun, history: &RunHistory) -> Self {
        Self {
            row: RunRow::read(run),
            messages: RecordedMessages(run.directory.clone()),
            history: history.clone(),
        }
    }

    /// Returns the state of the run.
    pub(crate) fn status(&self) -> Status {
        self.row.report.status
    }

    /// Hands over all that happened in the run, in order.
    pub(crate) fn each_entry(&self, mut each: impl FnMut(ReadEntry)) -> Result<(), CommandError> {
        let (mut story, mut summary) = (Story::default(), RunSummary::without_text());
        let read = read_events(&self.messages.0, |event| {
            summary.apply(event);
            for item in story.apply(event) {
                let (at, entry) = (item.at, LogEntry::of(&item.what, &summary));
                if let Some(entry) = entry {
                    each(ReadEntry { at, entry });
                }
            }
        });
        read.map_err(|error| {
            let run = &self.row.report.run_id;
            CommandError::failed(format!("could not read the record of run {run}")).because(&error)
        })?;
        added_end(summary, &self.history, self.row.report.accepted_at)
            .into_iter()
            .for_each(each);
        Ok(())
    }
}

impl Serialize for RecordedMessages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut messages = serializer.serialize_seq(None)?;
        let mut refused = None;
        let mut prompt = None;
        let mut is_prompt_read = false;
        let read = read_events(&self.0, |event| {
            if refused.is_some() {
                return;
            }
            match &event.happening {
                Happening::Accepted(task) => prompt = Some(Arc::clone(task)),
                Happening::Said {
                    record: ChildRecord::MessageEnded(message),
                    ..
                } => {
                    let is_first = matches!(message, Message::User(_))
                        && !std::mem::replace(&mut is_prompt_read, true);
                    let prompt = prompt.as_ref().filter(|_| is_first);
                    let prompt = prompt.map(|task| task.prompt.as_str());
                    let json = MessageJson::of(message, event.at, prompt);
                    refused = json.and_then(|json| messages.serialize_element(&json).err());
                }
                _ => {}
            }
        });
        match (refused, read) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(S::Error::custom(error)),
            (None, Ok(())) => messages.end(),
        }
    }
}

/// Returns the facts that the result has and the events do not: a full disk may have cost the end
/// of the events.
fn added_end(
    mut summary: RunSummary,
    history: &RunHistory,
    accepted_at: Timestamp,
) -> Vec<ReadEntry> {
    let at = history.summary.ended_at.unwrap_or(accepted_at);
    let mut added = Vec::new();
    if let Some(gap) = &history.gap {
        let reasons = gap.reasons.join("; ");
        let words = format!("the record is incomplete: {reasons}");
        added.push(LogEntry::warning(&words));
        let output = gap.output.as_deref().map(What::Words);
        added.extend(output.and_then(|output| LogEntry::of(&output, &summary)));
    }
    if summary.ending.is_none()
        && let Some(ending) = &history.summary.ending
    {
        summary.ended_at = history.summary.ended_at;
        added.extend(LogEntry::of(&What::Ended(ending), &summary));
    }
    let entries = added.into_iter();
    entries.map(|entry| ReadEntry { at, entry }).collect()
}
