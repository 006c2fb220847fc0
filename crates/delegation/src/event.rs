//! What happens in a run, as everybody outside the engine sees it.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

use crate::child_protocol::ChildRecord;
use crate::{Decision, Ending, RunId, RunSummary, Runner, Saying, Task};

/// Something that happened in a run.
#[derive(Debug, Clone)]
pub struct RunEvent {
    /// The run.
    pub run: RunId,
    /// When we saw it.
    pub at: Timestamp,
    /// What it was.
    pub happening: Happening,
}

/// What can happen in a run. Every accepted task ends with exactly one `Ended`.
#[derive(Debug, Clone)]
pub enum Happening {
    /// The task was taken on and waits for its turn.
    Accepted(Arc<Task>),
    /// Its child started.
    Started(Started),
    /// The child said something in its protocol.
    Said {
        /// The line as the child wrote it.
        line: Bytes,
        /// What it says.
        record: ChildRecord,
    },
    /// The child printed a line that is no record: text, as far as it is any.
    Printed(Bytes),
    /// The child wrote to stderr: all lines that came at once, without the last newline.
    Complained(String),
    /// Something a person should know and that ends nothing.
    Warned(String),
    /// Somebody sent a message into the running child.
    Steered(String),
    /// The child had not reported as it must, and we told it what is missing.
    Corrected(String),
    /// We decided to end it.
    Stopping(Decision),
    /// It is over.
    Ended(Ending),
}

/// A child that started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    /// Which kind of child.
    pub runner: Runner,
    /// The child's process.
    pub child: u32,
    /// The process that keeps it.
    pub keeper: u32,
}

/// A consumer of the events of runs. A sink gives nothing back.
pub trait EventSink: Send {
    /// Takes the events of one run since the last call, in order and at least one, and the
    /// summary of that run after the last of them. It must return quickly, because the run waits
    /// for it.
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary);

    /// Returns whether this sink shows what models say before they have said it; asked once per
    /// call. While nobody does, most of what a child writes is not even looked at.
    fn wants_sayings(&self) -> bool {
        false
    }

    /// Takes what the model of a run says right now, a few times a second. It comes beside the
    /// events: the answer with all of it may have been told before.
    fn on_saying(&mut self, run: &RunId, saying: &Saying) {
        // Most sinks keep what happened, and this has not.
        _ = (run, saying);
    }

    /// The process is about to be stopped, as by Ctrl-Z; whoever draws gives its terminal back.
    fn on_pause(&mut self) {}

    /// The process goes on; whoever draws begins anew.
    fn on_resume(&mut self) {}
}
