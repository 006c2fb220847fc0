//! How everybody outside the engine gets the events of runs.

use crate::{RunEvent, RunId, RunSummary, Saying};

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
