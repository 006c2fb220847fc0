//! The messages inside the engine: events from units, and requests to the dispatcher and the units.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pi_subagents_vocabulary::{
    Decision, EventSink, Happening, Interruption, Plan, RunId, RunSummary, Timestamp,
};
use tokio::sync::{mpsc, oneshot};

use crate::partial_feed::{Extent, PartialReader};
use crate::to_child::{NotSent, ToChild};

/// A batch from a unit to the dispatcher: the events since the last batch, in order.
#[derive(Debug)]
pub(crate) struct UnitEvents {
    pub(crate) run: RunId,
    /// The events, each with the time at which the unit saw it, because it may wait for the
    /// dispatcher.
    pub(crate) what: Vec<(Timestamp, UnitEvent)>,
}

/// One event of a unit.
#[derive(Debug)]
pub(crate) enum UnitEvent {
    Happened(Happening),
    /// A record so large that it is sent undecoded, so that only one such record at a time is in
    /// memory twice.
    LargeRecord(Bytes),
}

impl UnitEvent {
    /// Returns whether the child has said it in its protocol, so that it hears.
    pub(crate) fn is_of_child(&self) -> bool {
        match self {
            Self::Happened(happening) => matches!(happening, Happening::Said { .. }),
            Self::LargeRecord(_) => true,
        }
    }
}

/// From the dispatcher to a unit.
#[derive(Debug)]
pub(crate) enum UnitRequest {
    /// End the run.
    End(Decision),
    /// Stop the child's tree and all clocks; the sender is dropped when that is done.
    Pause { paused: mpsc::Sender<()> },
    /// Go on after a pause of this length.
    Resume { pause: Duration },
    /// Send this to the child.
    Send {
        what: ToChild,
        answer: oneshot::Sender<Result<(), NotSent>>,
    },
}

/// From outside to the dispatcher.
pub(crate) enum EngineRequest {
    Run {
        plan: Plan,
        sinks: Vec<Box<dyn EventSink>>,
        done: oneshot::Sender<Vec<Arc<RunSummary>>>,
    },
    Stop {
        run: RunId,
        done: oneshot::Sender<Result<Arc<RunSummary>, NotRunning>>,
    },
    Wait {
        run: RunId,
        done: oneshot::Sender<Result<Arc<RunSummary>, NotRunning>>,
    },
    Send {
        run: RunId,
        what: ToChild,
        answer: oneshot::Sender<Result<(), NotSent>>,
    },
    ReadPartial {
        run: RunId,
        extent: Extent,
        answer: oneshot::Sender<Result<PartialReader, NotRunning>>,
    },
    /// Have this many runs work at once from now on.
    Places(usize),
    /// Stop the trees of all runs; the sender is dropped when that is done.
    Pause { paused: mpsc::Sender<()> },
    /// Let them go on after a pause of this length.
    Resume { pause: Duration },
    /// End all runs; the second time at once.
    Shutdown(Interruption),
}

/// The owner has no such run, or not any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("run {0} is not running")]
pub struct NotRunning(pub RunId);
