//! Decides when the sinks of calls get the messages that models are still writing. The messages of
//! all runs come at one moment, so that a sink that draws them draws once, and not more often than
//! an eye needs.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_vocabulary::Pacer;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The shortest time between two looks of a person at a message that is being written.
pub(crate) const GLANCE: Duration = Duration::from_millis(200);

/// Decides when sinks get partial messages next.
#[derive(Debug)]
pub(crate) struct PartialPace {
    news: Arc<Notify>,
    pacer: Pacer,
}

impl PartialPace {
    /// Makes the pace of an owner's sinks.
    pub(crate) fn new() -> Self {
        Self {
            news: Arc::default(),
            pacer: Pacer::new(GLANCE),
        }
    }

    /// Returns where feeds announce that a message has grown.
    pub(crate) fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.news)
    }

    /// Waits until sinks are to get something. A caller that stops waiting may begin again.
    pub(crate) async fn due(&mut self) {
        loop {
            if let Some(due) = self.pacer.due(Instant::now().into_std()) {
                return sleep_until(Instant::from_std(due)).await;
            }
            self.news.notified().await;
            self.pacer.note_change();
        }
    }

    /// Notes that sinks have got everything that is new.
    pub(crate) fn done(&mut self) {
        self.pacer.note_done(Instant::now().into_std());
    }
}
