//! The progress of a call in one line, for a client that waits for its answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pi_subagents_view::{PreviewContext, Wall};
use pi_subagents_vocabulary::text::{cut_characters, one_line};
use pi_subagents_vocabulary::{EventSink, Happening, RunEvent, RunId, RunSummary, Status};
use tokio::sync::Notify;

use crate::updates::Updates;

/// The longest pause between two progress messages. Clients give up on a call after half a minute
/// or more without news, and a sub-agent may wait longer for its model or a tool.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);

/// The number of characters of the newest line beside the counts of the runs.
const SHORT_LINE: usize = 160;

/// The progress of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallProgress {
    /// The number of its runs that are over.
    pub finished: usize,
    /// The number of its runs.
    pub total: usize,
    /// The counts of its runs and the newest line.
    pub message: String,
}

/// Takes how far a call is, whenever something has changed.
pub type OnCallProgress = Box<dyn FnMut(CallProgress) + Send>;

/// A sink that knows how far the runs of a call are.
#[derive(Clone)]
pub(crate) struct ProgressRecord {
    standing: Arc<Mutex<Standing>>,
    changed: Arc<Notify>,
}

struct Standing {
    wall: Wall,
    accepted: usize,
    ended: usize,
    /// The run with the newest line.
    latest: Option<RunId>,
}

impl ProgressRecord {
    pub(crate) fn new(context: PreviewContext) -> Self {
        Self {
            standing: Arc::new(Mutex::new(Standing {
                wall: Wall::new(context),
                accepted: 0,
                ended: 0,
                latest: None,
            })),
            changed: Arc::default(),
        }
    }

    /// Reports how far the call is when something has happened, and now and then that it goes on.
    pub(crate) fn updates(&self, mut on_progress: OnCallProgress) -> Updates {
        let record = self.clone();
        Updates::new(
            Arc::clone(&self.changed),
            Some(LONGEST_SILENCE),
            Box::new(move || {
                let progress = record.lock().progress();
                on_progress(progress);
            }),
        )
    }

    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for ProgressRecord {
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        let mut standing = self.lock();
        standing.wall.apply(events, summary);
        for event in events {
            standing.count(event);
        }
        drop(standing);
        self.changed.notify_one();
    }
}

impl Standing {
    fn count(&mut self, event: &RunEvent) {
        match &event.happening {
            Happening::Accepted(_) => self.accepted += 1,
            Happening::Ended(_) => self.ended += 1,
            Happening::Said { .. } | Happening::Warned(_) | Happening::Asked(_) => {
                self.latest = Some(event.run.clone());
            }
            Happening::Placed(_)
            | Happening::Started(_)
            | Happening::Printed(_)
            | Happening::Complained(_)
            | Happening::Granted(_)
            | Happening::Steered(_)
            | Happening::Corrected(_)
            | Happening::Reported(_)
            | Happening::FellBack(_)
            | Happening::Rung(_)
            | Happening::Gated(_)
            | Happening::Answered(_)
            | Happening::Stopping(_) => {}
        }
    }

    fn progress(&self) -> CallProgress {
        CallProgress {
            finished: self.ended,
            total: self.accepted,
            message: self.message(),
        }
    }

    /// Returns the counts of the runs, with the newest line of the run that printed last, as long
    /// as it runs.
    fn message(&self) -> String {
        let header = self.wall.status_header().text();
        let window = self.latest.as_ref().and_then(|run| self.wall.window(run));
        let window =
            window.filter(|window| matches!(window.status(), Status::Running | Status::Waiting));
        let newest = window.and_then(|window| Some((window.name(), window.lines(1).next()?)));
        match newest {
            Some((name, newest)) => {
                let newest = one_line(&format!("{name}: {}", newest.line.text()));
                format!("{header} · {}", cut_characters(&newest, SHORT_LINE))
            }
            None => header,
        }
    }
}
