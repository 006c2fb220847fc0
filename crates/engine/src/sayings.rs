//! When the sinks of calls hear what models say: all of them at once, so that what draws them draws
//! once, and not more often than an eye needs.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The shortest time between two glances at a model.
pub(crate) const PAUSE: Duration = Duration::from_millis(200);

/// When sinks are told next.
#[derive(Debug)]
pub(crate) struct Sayings {
    news: Arc<Notify>,
    is_any_new: bool,
    not_before: Instant,
}

impl Sayings {
    pub(crate) fn new() -> Self {
        Self {
            news: Arc::default(),
            is_any_new: false,
            not_before: Instant::now(),
        }
    }

    /// Where those who are heard say that they have said something.
    pub(crate) fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.news)
    }

    /// Waits until something new is to be told; whoever stops waiting may begin again.
    pub(crate) async fn due(&mut self) {
        if !self.is_any_new {
            self.news.notified().await;
            self.is_any_new = true;
        }
        sleep_until(self.not_before).await;
    }

    /// All that is new was told now.
    pub(crate) fn told(&mut self) {
        self.is_any_new = false;
        self.not_before = Instant::now() + PAUSE;
    }
}
