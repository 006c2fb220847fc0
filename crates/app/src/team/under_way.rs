//! The runs of a call, so that they end when nobody waits for it any more.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use pi_subagents_delegation::{EventSink, Happening, RunEvent, RunId};
use tokio::runtime::Handle;

use crate::owner::Owner;

/// The runs of a call that are not over; those are stopped when this is dropped.
pub(super) struct RunsUnderWay<'a> {
    owner: &'a Owner,
    runs: Runs,
}

#[derive(Clone, Default)]
struct Runs(Arc<Mutex<HashSet<RunId>>>);

impl<'a> RunsUnderWay<'a> {
    pub(super) fn of(owner: &'a Owner) -> Self {
        Self {
            owner,
            runs: Runs::default(),
        }
    }

    /// Whoever tells it what happens.
    pub(super) fn sink(&self) -> Box<dyn EventSink> {
        Box::new(self.runs.clone())
    }
}

impl EventSink for Runs {
    fn on_event(&mut self, event: &RunEvent) {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &event.happening {
            Happening::Accepted(_) => _ = runs.insert(event.run.clone()),
            Happening::Ended(_) => _ = runs.remove(&event.run),
            Happening::Started(_)
            | Happening::Said { .. }
            | Happening::Printed(_)
            | Happening::Complained(_)
            | Happening::Warned(_)
            | Happening::Steered(_)
            | Happening::Corrected(_)
            | Happening::Stopping(_) => {}
        }
    }
}

impl Drop for RunsUnderWay<'_> {
    fn drop(&mut self) {
        let runs = self.runs.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a runtime the engine is gone, and with it all runs.
        if !runs.is_empty() && Handle::try_current().is_ok() {
            self.owner.stop(&runs.iter().cloned().collect::<Vec<_>>());
        }
    }
}
