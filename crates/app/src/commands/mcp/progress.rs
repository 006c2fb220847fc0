//! How far a call is, for a client that wants to know.

use std::sync::{Arc, Mutex, PoisonError};

use pi_subagents_delegation::{EventSink, Happening, RunEvent};
use pi_subagents_mcp::{CallWatch, OnProgress, Progress};

use crate::dialects::WindowRecord;
use crate::toolbox::{OnUpdate, Watch};

/// Lets a client take part in a call as far as it wants to.
pub(super) fn watching(watch: CallWatch) -> Watch {
    let nobody = Watch {
        cancelled: watch.cancelled,
        ..Watch::nobody()
    };
    let Some(on_progress) = watch.on_progress else {
        return nobody;
    };
    let tally = Tally::default();
    Watch {
        sinks: vec![Box::new(tally.clone())],
        on_update: Some(told_by(tally, on_progress)),
        ..nobody
    }
}

/// Tells how far a call is, when more has happened than that time went by.
fn told_by(tally: Tally, mut on_progress: OnProgress) -> OnUpdate {
    let mut told = 0;
    Box::new(move |windows: &WindowRecord, _| {
        let counts = tally.counts();
        if counts.events != told {
            told = counts.events;
            on_progress(Progress {
                finished: counts.ended,
                total: counts.accepted,
                message: windows.text(),
            });
        }
    })
}

/// Counts what happens in the runs of a call.
#[derive(Clone, Default)]
struct Tally {
    counts: Arc<Mutex<Counts>>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    accepted: usize,
    ended: usize,
    events: usize,
}

impl Tally {
    fn counts(&self) -> Counts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for Tally {
    fn on_event(&mut self, event: &RunEvent) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.events += 1;
        match &event.happening {
            Happening::Accepted(_) => counts.accepted += 1,
            Happening::Ended(_) => counts.ended += 1,
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
