//! What can go wrong between a program and its sub-agents.

use std::fmt;

/// The reason why a call has no answer.
#[derive(Debug)]
pub struct ClientError {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The program `pi-subagents` was not found or not started.
    Program,
    /// The call cannot be understood, or its settings cannot be used.
    Usage,
    /// There is no such run, session or agent.
    NotFound,
    /// Nobody answered.
    NoAnswer,
    /// A run failed: its error is the message.
    Run,
    /// A result does not fit the type that the task returns.
    Result,
    /// The program said something that this version does not understand.
    Protocol,
    /// Anything else.
    Failed,
}

impl ClientError {
    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self {
            kind,
            message: message.to_string(),
            hint: None,
        }
    }

    /// Makes an error of the JSON that the program prints about one.
    pub(crate) fn of_json(error: &serde_json::Value) -> Self {
        let kind = match error["kind"].as_str() {
            Some("usage") => ErrorKind::Usage,
            Some("notFound") => ErrorKind::NotFound,
            Some("noAnswer") => ErrorKind::NoAnswer,
            _ => ErrorKind::Failed,
        };
        let text = |name: &str| error[name].as_str().map(str::to_owned);
        Self {
            kind,
            message: text("message").unwrap_or_else(|| error.to_string()),
            hint: text("hint"),
        }
    }

    /// Returns its kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns what to do about it, if the program says so.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ClientError {}
