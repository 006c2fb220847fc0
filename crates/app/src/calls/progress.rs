//! How far a call is, for whoever waits for its answer elsewhere.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pi_subagents_delegation::{EventSink, Happening, RunEvent, RunId, RunSummary};

use crate::calls::WindowRecord;
use crate::calls::service::{OnUpdate, Watch};

/// Clients give up on a call after half a minute or more in which they heard nothing of it, and a
/// sub-agent may wait longer for its model or a tool.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallProgress {
    /// How many of its runs are over.
    pub(crate) finished: usize,
    /// How many runs it has.
    pub(crate) total: usize,
    /// How they stand, and what happens, in one line.
    pub(crate) message: String,
}

/// Takes how far a call is, whenever something has changed.
pub(crate) type OnCallProgress = Box<dyn FnMut(CallProgress) + Send>;

/// Ends when nobody wants the answer any more.
pub(crate) type Cancelled = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Lets somebody take part in a call as far as they want to.
pub(crate) fn watching(on_progress: Option<OnCallProgress>, cancelled: Cancelled) -> Watch {
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
fn told_by(tally: Tally, mut on_progress: OnCallProgress) -> OnUpdate {
    let mut told = 0;
    let mut told_at = Instant::now();
    Box::new(move |windows: &WindowRecord, _| {
        let counts = tally.counts();
        if counts.events != told || told_at.elapsed() >= LONGEST_SILENCE {
            told = counts.events;
            told_at = Instant::now();
            on_progress(CallProgress {
                finished: counts.ended,
                total: counts.accepted,
                message: windows.text_with(counts.latest.as_ref()),
            });
        }
    })
}

/// Counts what happens in the runs of a call.
#[derive(Clone, Default)]
struct Tally {
    counts: Arc<Mutex<Counts>>,
}

#[derive(Clone, Default)]
struct Counts {
    accepted: usize,
    ended: usize,
    events: usize,
    /// The run that said something last.
    latest: Option<RunId>,
}

impl Tally {
    fn counts(&self) -> Counts {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.clone()
    }
}

impl EventSink for Tally {
    fn on_events(&mut self, events: &[RunEvent], _: &RunSummary) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for event in events {
            counts.add(event);
        }
    }
}

impl Counts {
    fn add(&mut self, event: &RunEvent) {
        self.events += 1;
        match &event.happening {
            Happening::Accepted(_) => self.accepted += 1,
            Happening::Ended(_) => self.ended += 1,
            Happening::Said { .. } => self.latest = Some(event.run.clone()),
            Happening::Started(_)
            | Happening::Printed(_)
            | Happening::Complained(_)
            | Happening::Warned(_)
            | Happening::Steered(_)
            | Happening::Corrected(_)
            | Happening::Stopping(_) => {}
        }
    }
}
