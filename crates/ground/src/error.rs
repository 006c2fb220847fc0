//! The error of a command: the failure, its causes, and advice.

use std::error::Error;
use std::fmt::Write as _;
use std::slice;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::exit;

/// A command that cannot do its job.
#[derive(Debug, Serialize, Deserialize)]
pub struct CommandError {
    kind: Kind,
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// The arguments or the definition are invalid.
    Usage,
    /// There is no run, session or definition with this id or name.
    NotFound,
    /// The run is there, and has no finished answer.
    NoAnswer,
    /// The command tried and failed.
    Failed,
    /// A person pressed Ctrl-C at a question.
    Interrupted,
}

impl CommandError {
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, message)
    }

    pub fn no_answer(message: impl Into<String>) -> Self {
        Self::new(Kind::NoAnswer, message)
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, message)
    }

    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::new(Kind::Interrupted, message)
    }

    fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            causes: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// Adds an error and its sources as causes.
    pub fn because(mut self, error: &dyn Error) -> Self {
        let mut cause = Some(error);
        while let Some(error) = cause {
            self.causes.push(error.to_string());
            cause = error.source();
        }
        self
    }

    /// Adds a hint with advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a hint, unless there is one already.
    pub fn or_hint(self, hint: &str) -> Self {
        if self.hints.is_empty() {
            self.hint(hint)
        } else {
            self
        }
    }

    /// Says the same in other words.
    pub fn reworded(mut self, message: String) -> Self {
        self.message = message;
        self
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Failed => 1,
            Kind::Usage => 2,
            Kind::NotFound => 3,
            Kind::NoAnswer => exit::NO_ANSWER,
            Kind::Interrupted => 130,
        }
    }

    /// Writes the error for a person at a terminal.
    pub(crate) fn to_text(&self) -> String {
        format!("error: {}", self.sentence())
    }

    /// Writes the failure, its causes and the advice, one line each.
    pub fn sentence(&self) -> String {
        let mut text = self.message.clone();
        for cause in &self.causes {
            // Writing to a string cannot fail.
            _ = write!(text, "\n  caused by: {cause}");
        }
        for hint in &self.hints {
            _ = write!(text, "\nhint: {hint}");
        }
        text
    }

    /// Writes the error for the model that called a tool.
    pub fn to_answer(&self) -> String {
        let message = [slice::from_ref(&self.message), &self.causes]
            .concat()
            .join(": ");
        [slice::from_ref(&message), &self.hints].concat().join("\n")
    }

    /// Returns the error for a program.
    pub(crate) fn to_json(&self) -> Value {
        let kind = match self.kind {
            Kind::Usage => "usage",
            Kind::NotFound => "notFound",
            Kind::NoAnswer => "noAnswer",
            Kind::Failed => "failed",
            Kind::Interrupted => "interrupted",
        };
        let message = [slice::from_ref(&self.message), &self.causes].concat();
        json!({"error": {
            "kind": kind,
            "message": message.join(": "),
            "hint": (!self.hints.is_empty()).then(|| self.hints.join("\n")),
        }})
    }
}
