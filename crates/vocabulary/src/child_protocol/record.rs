//! The decoded records of a child.

use serde_json::Value;

use crate::{Message, Usage};

/// A line of a child's stdout.
#[derive(Debug, Clone, PartialEq)]
pub enum ChildLine {
    /// A record of the protocol.
    Record(ChildRecord),
    /// Anything else, which is text and never an error of ours.
    Text,
}

/// A record of the protocol, as far as we use it.
#[derive(Debug, Clone, PartialEq)]
pub enum ChildRecord {
    /// The child began to work on a prompt.
    AgentStarted,
    /// A message is complete.
    MessageEnded(Message),
    /// A tool began.
    ToolStarted {
        /// The call.
        call_id: String,
        /// The tool.
        tool: String,
        /// The arguments. They may be of any type.
        arguments: Value,
    },
    /// An update of a message or of a shell command, as it streams.
    Delta,
    /// A tool reported progress.
    ToolProgressed {
        /// The call.
        call_id: String,
    },
    /// A tool is done.
    ToolEnded {
        /// The call.
        call_id: String,
        /// The tool.
        tool: String,
        /// True if the call failed.
        is_error: bool,
        /// The details of the result beside its text.
        details: Option<Value>,
        /// The last line of a failed tool's text; empty for a tool that did not fail.
        last_line: String,
    },
    /// The model failed and is asked again.
    Retrying {
        /// The number of this attempt.
        attempt: u64,
        /// The number of all attempts.
        max_attempts: u64,
        /// The pause before it, in milliseconds.
        delay_ms: u64,
        /// The reason for the retry.
        error: String,
    },
    /// The conversation is being shortened.
    Compacting {
        /// The reason for it.
        reason: String,
    },
    /// The conversation was shortened.
    Compacted {
        /// The tokens and the cost of the summary.
        usage: Usage,
    },
    /// Nothing more comes unless the child is asked.
    Settled,
    /// An answer to one of our commands.
    Responded(Response),
    /// An extension shows a person something, and may wait for an answer.
    Asked(Dialog),
    /// An extension failed.
    ExtensionFailed {
        /// The error message.
        error: String,
    },
    /// A record that repeats others.
    Repetition,
    /// A record we do not know.
    Other {
        /// Its type.
        kind: String,
    },
}

impl ChildRecord {
    /// Returns what this record adds to the usage of its run: an answer of the model, or a
    /// compaction. Every sum over a run, shown or limiting, adds up this.
    pub fn usage(&self) -> Usage {
        match self {
            Self::MessageEnded(Message::Assistant(answer)) => answer.usage,
            Self::Compacted { usage } => *usage,
            _ => Usage::default(),
        }
    }
}

/// An answer to one of our commands.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The id of the command, if it had one.
    pub id: Option<String>,
    /// The command.
    pub command: String,
    /// The error, or `None` if the command was taken.
    pub error: Option<String>,
    /// The data of the answer, as far as we use it.
    pub data: ResponseData,
}

/// The data of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseData {
    /// Nothing we use.
    Nothing,
    /// The model that will answer, if there is one.
    State(Option<ModelName>),
    /// The models that could answer.
    Models(Vec<ModelName>),
    /// The number of tokens that the new model reads at most, if the child knows it.
    Window(Option<u64>),
}

/// A model, as its child names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    /// Its provider.
    pub provider: String,
    /// Its id there.
    pub id: String,
}

/// A dialog of an extension.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dialog {
    /// Its id.
    pub id: String,
    /// The kind of dialog.
    pub method: String,
    /// Its words, where it has any.
    pub title: Option<String>,
    /// Further words of a dialog that wants yes or no, or those that an editor begins with.
    pub message: Option<String>,
    /// The answers of a dialog that wants one of them.
    pub options: Vec<String>,
    /// The milliseconds after which the child goes on without an answer, if it does.
    pub timeout_ms: Option<u64>,
}

impl Dialog {
    /// Returns whether the child waits for an answer; the other methods only show something.
    pub fn is_waiting(&self) -> bool {
        matches!(
            self.method.as_str(),
            "select" | "confirm" | "input" | "editor"
        )
    }
}
