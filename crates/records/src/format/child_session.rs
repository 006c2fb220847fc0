//! Messages in a child's own session, which is written in pi's format, and in the lines that a
//! child prints.

use pi_subagents_vocabulary::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A line of a session that holds a message.
#[derive(Debug, Deserialize)]
pub(crate) struct MessageEntry<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'a str,
    timestamp: &'a str,
    #[serde(borrow)]
    pub(crate) message: &'a RawValue,
}

/// The message in a line that a child printed.
#[derive(Debug, Deserialize)]
pub(crate) struct ToldMessage<'a> {
    #[serde(borrow)]
    pub(crate) message: &'a RawValue,
}

/// A message in the form in which a child prints it, although it was found in the child's session.
#[derive(Debug, Serialize)]
pub(crate) struct RecoveredMessage<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    recovered: bool,
    message: &'a RawValue,
}

impl MessageEntry<'_> {
    /// Returns the time of the message, if the line has one.
    pub(crate) fn written_at(&self) -> Option<Timestamp> {
        self.timestamp.parse().ok()
    }
}

impl<'a> RecoveredMessage<'a> {
    pub(crate) fn of(message: &'a RawValue) -> Self {
        Self {
            kind: "message_end",
            recovered: true,
            message,
        }
    }
}
