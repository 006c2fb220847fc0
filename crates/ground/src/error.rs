//! The error of a command: the failure, its causes, and advice.

use std::error::Error;
use std::fmt::Write as _;
use std::slice;

use pi_subagents_vocabulary::{Advice, Door};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::exit;

/// A command that cannot do its job.
#[derive(Debug, Serialize, Deserialize)]
pub struct CommandError {
    kind: Kind,
    message: String,
    causes: Vec<String>,
    hints: Vec<Hint>,
}

/// What somebody can do about an error: a sentence, with a next step in it that the door words.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Hint {
    before: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    advice: Option<Advice>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    after: String,
}

impl Hint {
    fn words(&self, door: Door) -> String {
        let way = self.advice.as_ref().map(|advice| advice.words(door));
        let words = [
            &self.before,
            way.as_deref().unwrap_or_default(),
            &self.after,
        ];
        words.concat()
    }
}

/// The kind of an error, from which the exit code follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

    /// Returns the error for work of ours that ended without a result. It is never the fault of the
    /// caller, who should know that.
    pub fn defect(message: impl Into<String>, error: &dyn Error) -> Self {
        Self::failed(message).because(error).hint(
            "The cause is in pi-subagents, not in what was asked for. Ask again; if it fails again, \
             report it with the lines above.",
        )
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
        self.hints.push(Hint {
            before: hint.into(),
            advice: None,
            after: String::new(),
        });
        self
    }

    /// Adds a hint whose next step is worded by the door at which the error arrives; `before` and
    /// `after` are the sentence around it.
    pub fn advise(
        mut self,
        before: impl Into<String>,
        advice: Advice,
        after: impl Into<String>,
    ) -> Self {
        self.hints.push(Hint {
            before: before.into(),
            advice: Some(advice),
            after: after.into(),
        });
        self
    }

    /// Adds advice that is a whole sentence, unless there is a hint already.
    pub fn or_advise(self, advice: Advice) -> Self {
        if self.hints.is_empty() {
            self.advise("", advice, "")
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
        format!("error: {}", self.lines(Door::CommandLine))
    }

    /// Writes the failure and its causes, for a text that quotes the error. Advice is left out:
    /// whoever quotes the error does not know who will read it.
    pub fn sentence(&self) -> String {
        [slice::from_ref(&self.message), &self.causes]
            .concat()
            .join(": ")
    }

    /// Writes the failure, its causes and the advice, one line each.
    pub fn lines(&self, door: Door) -> String {
        let mut text = self.message.clone();
        for cause in &self.causes {
            // Writing to a string cannot fail.
            _ = write!(text, "\n  caused by: {cause}");
        }
        for hint in &self.hints {
            _ = write!(text, "\nhint: {}", hint.words(door));
        }
        text
    }

    /// Writes the error for the model that called a tool.
    pub fn to_answer(&self, door: Door) -> String {
        let hints = self.hints.iter().map(|hint| hint.words(door));
        let lines: Vec<String> = std::iter::once(self.sentence()).chain(hints).collect();
        lines.join("\n")
    }

    /// Returns the error for a program.
    pub(crate) fn to_json(&self) -> ErrorResult {
        let hints = self.hints.iter().map(|hint| hint.words(Door::CommandLine));
        let hints: Vec<String> = hints.collect();
        ErrorResult {
            error: PrintedError {
                kind: self.kind,
                message: self.sentence(),
                hint: (!hints.is_empty()).then(|| hints.join("\n")),
            },
        }
    }
}

/// The JSON of a command that has no result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorResult {
    error: PrintedError,
}

/// The reason why a command has no result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PrintedError {
    kind: Kind,
    /// What is wrong, with its causes.
    message: String,
    /// What somebody can do about it.
    hint: Option<String>,
}
