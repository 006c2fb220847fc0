//! How far a call is, for a client that wants to know.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pi_subagents_delegation::{EventSink, Happening, RunEvent};
use pi_subagents_mcp::{Cancelled, OnProgress, Progress};

use crate::dialects::WindowRecord;
use crate::toolbox::{OnUpdate, Watch};

/// Clients give up on a call after half a minute or more in which they heard nothing of it, and a
/// sub-agent may wait longer for its model or a tool.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);

/// Lets a client take part in a call as far as it wants to.
pub(super) fn watching(on_progress: Option<OnProgress>, cancelled: Cancelled) -> Watch {
    let nobody = Watch {
        cancelled,
        ..Watch::nobody()
    };
    let Some(on_progress) = on_progress else {
        return nobody;
    };
    let tally = Tally::default();
    Watch {
        sinks: vec![Box::new(tally.clone())],
        on_update: Some(told_by(tally, on_progress)),
        ..nobody
    }
}

/// Tells how far a call is when something has happened, and now and then that it goes on.
fn told_by(tally: Tally, mut on_progress: OnProgress) -> OnUpdate {
    let mut told = 0;
    let mut told_at = Instant::now();
    Box::new(move |windows: &WindowRecord, _| {
        let counts = tally.counts();
        if counts.events != told || told_at.elapsed() >= LONGEST_SILENCE {
            told = counts.events;
            told_at = Instant::now();
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
