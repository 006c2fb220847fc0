//! The interface through which everybody outside the engine gets the events of runs.

use crate::{PartialMessage, RunEvent, RunId, RunSummary};

/// A consumer of the events of runs. A sink returns nothing.
///
/// The engine calls the sinks of a call from one task, one after another, so a sink needs no lock
/// for itself. It is dropped when the last run of its call is over and before the caller gets the
/// outcomes: a sink that must finish something does it in its `Drop`, which may block as little as
/// its methods. A sink must not panic; a panic ends the engine of its owner, and with it all runs.
pub trait EventSink: Send {
    /// Takes the events of one run since the last call, in order and at least one, and the
    /// summary of that run after the last of them. It must return quickly, because the run waits
    /// for it.
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary);

    /// Returns whether this sink shows messages that models are still writing; asked once per call.
    /// While no sink does, most of a child's output is skipped.
    fn wants_partial_messages(&self) -> bool {
        false
    }

    /// Takes the message that the model of a run is writing, a few times a second. It comes beside
    /// the events: the event with the whole message may have come before.
    fn on_partial_message(&mut self, run: &RunId, message: &PartialMessage) {
        // Most sinks keep only events, and this is none yet.
        _ = (run, message);
    }

    /// Prepares for a stop of this process, as by Ctrl-Z: a sink that draws gives its terminal
    /// back.
    fn on_pause(&mut self) {}

    /// Goes on after a stop of this process: a sink that draws begins anew.
    fn on_resume(&mut self) {}
}
