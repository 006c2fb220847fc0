//! What happens in a call, as it happens.

use serde::Deserialize;
use serde_json::Value;

use crate::run::Ending;

/// Something that happened in a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Event {
    /// The run.
    pub run_id: String,
    /// Its session.
    pub session_id: String,
    /// The name of its task.
    pub name: String,
    /// The time, as RFC 3339 writes it.
    pub at: String,
    /// What happened.
    pub kind: EventKind,
    /// The whole record, as it stands on disk.
    pub record: Value,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// The task was accepted and waits for its turn.
    Accepted,
    /// Its sub-agent has started.
    Started,
    /// The model said something.
    Said(String),
    /// A tool began.
    ToolStarted {
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: Value,
    },
    /// A tool is done.
    ToolEnded {
        /// The tool.
        tool: String,
        /// True if the call failed.
        is_error: bool,
    },
    /// Something that a person should know.
    Warned(String),
    /// Somebody sent it a message.
    Steered,
    /// It ended.
    Ended(Ending),
    /// Anything else: `record` has it.
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    run_id: String,
    session_id: String,
    name: String,
    at: String,
    event: Value,
}

impl Event {
    pub(crate) fn read(line: Value) -> Result<Self, serde_json::Error> {
        let Line {
            run_id,
            session_id,
            name,
            at,
            event,
        } = serde_json::from_value(line)?;
        Ok(Self {
            run_id,
            session_id,
            name,
            at,
            kind: EventKind::of(&event),
            record: event,
        })
    }
}

impl EventKind {
    fn of(record: &Value) -> Self {
        let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
        match record["type"].as_str().unwrap_or_default() {
            "run_accepted" => Self::Accepted,
            "run_started" => Self::Started,
            "run_warned" => Self::Warned(text("warning")),
            "run_steered" => Self::Steered,
            "run_ended" => Ending::deserialize(&record["ending"]).map_or(Self::Other, Self::Ended),
            "tool_execution_start" => Self::ToolStarted {
                tool: text("toolName"),
                arguments: record["args"].clone(),
            },
            "tool_execution_end" => Self::ToolEnded {
                tool: text("toolName"),
                is_error: record["isError"] == true,
            },
            "message_end" if record["message"]["role"] == "assistant" => said(record),
            _ => Self::Other,
        }
    }
}

fn said(record: &Value) -> EventKind {
    let blocks = record["message"]["content"].as_array();
    let texts: Vec<&str> = blocks
        .into_iter()
        .flatten()
        .filter(|block| block["type"] == "text")
        .filter_map(|block| block["text"].as_str())
        .collect();
    if texts.is_empty() {
        return EventKind::Other;
    }
    EventKind::Said(texts.join("\n"))
}
