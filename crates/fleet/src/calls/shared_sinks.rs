//! The sinks of a call whose events come from several places.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_vocabulary::{EventSink, PartialMessage, RunEvent, RunId, RunSummary};

/// Sinks that take the events of the fleet and those of this machine.
#[derive(Clone)]
pub(super) struct SharedSinks(Arc<Mutex<Vec<Box<dyn EventSink>>>>);

impl SharedSinks {
    pub(super) fn new(sinks: Vec<Box<dyn EventSink>>) -> Self {
        Self(Arc::new(Mutex::new(sinks)))
    }

    fn all(&self) -> MutexGuard<'_, Vec<Box<dyn EventSink>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for SharedSinks {
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        for sink in self.all().iter_mut() {
            sink.on_events(events, summary);
        }
    }

    fn wants_partial_messages(&self) -> bool {
        self.all().iter().any(|sink| sink.wants_partial_messages())
    }

    fn on_partial_message(&mut self, run: &RunId, message: &PartialMessage) {
        for sink in self.all().iter_mut() {
            sink.on_partial_message(run, message);
        }
    }

    fn on_pause(&mut self) {
        for sink in self.all().iter_mut() {
            sink.on_pause();
        }
    }

    fn on_resume(&mut self) {
        for sink in self.all().iter_mut() {
            sink.on_resume();
        }
    }
}
