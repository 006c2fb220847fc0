//! The events of a run, as everybody outside the engine sees them.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

use crate::child_protocol::ChildRecord;
use crate::{
    Allowance, AnsweredQuestion, CheckedReport, DecisionKind, Ending, FellBack, Gated, Question,
    RunId, Rung, Runner, Task,
};

/// Something that happened in a run.
#[derive(Debug, Clone)]
pub struct RunEvent {
    /// The run.
    pub run: RunId,
    /// The time at which we saw it.
    pub at: Timestamp,
    /// The event itself.
    pub happening: Happening,
}

/// The events of a run. Every accepted task ends with exactly one `Ended`.
#[derive(Debug, Clone)]
pub enum Happening {
    /// The task was accepted and waits for its turn.
    Accepted(Arc<Task>),
    /// A worker of a fleet has it now.
    Placed(String),
    /// Its child started.
    Started(Started),
    /// The child printed a record of its protocol.
    Said {
        /// The line as the child wrote it.
        line: Bytes,
        /// The decoded record.
        record: ChildRecord,
    },
    /// The child printed a line that is no record; it may be no text either.
    Printed(Bytes),
    /// The child wrote to stderr: all lines that came at once, without the last newline.
    Complained(String),
    /// Its budgets let it consume this much, all in all.
    Granted(Allowance),
    /// Something a person should know and that ends nothing.
    Warned(String),
    /// Somebody sent a message into the running child.
    Steered(String),
    /// The child owed a report, and we sent it this correction.
    Corrected(String),
    /// The child reported, and its report was checked against the schema of the run.
    Reported(CheckedReport),
    /// The run goes on with another model, because the one before cannot be asked.
    FellBack(FellBack),
    /// A step was taken against a run that is stuck or has to come to its end.
    Rung(Rung),
    /// A gate of the run began, passed or failed.
    Gated(Gated),
    /// The run asks something, and waits.
    Asked(Question),
    /// Nobody needs to answer a question any more.
    Answered(AnsweredQuestion),
    /// We decided to end it.
    Stopping(DecisionKind),
    /// It is over.
    Ended(Ending),
}

/// A child that started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    /// The kind of child.
    pub runner: Runner,
    /// The child's process.
    pub child: u32,
    /// The process that keeps it.
    pub keeper: u32,
}
