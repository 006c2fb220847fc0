//! When the door of a call is told how its windows look: soon after something has changed, and
//! never so often that telling takes the time that working needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::calls::service::OnUpdate;
use crate::calls::{Seen, WindowRecord};

/// How often a door hears of a call under way, at most.
const UPDATE_EVERY: Duration = Duration::from_millis(50);

/// Of the time, at most one part in so many goes into telling how the windows look.
const TELLING_SHARE: u32 = 50;

/// How often at least, because the clocks of the windows go on.
const CLOCK_EVERY: Duration = Duration::from_secs(1);

/// How the view of a call looks, as its door tells while it is under way.
#[derive(Debug, Default)]
pub(crate) struct Look {
    is_expanded: AtomicBool,
    /// How wide it is; 0 while that is not known.
    columns: AtomicUsize,
}

impl Look {
    pub(crate) fn set(&self, is_expanded: bool, columns: Option<usize>) {
        self.is_expanded.store(is_expanded, Ordering::Relaxed);
        self.columns.store(columns.unwrap_or(0), Ordering::Relaxed);
    }

    fn seen(&self) -> Seen {
        if self.is_expanded.load(Ordering::Relaxed) {
            Seen::All
        } else {
            Seen::Newest
        }
    }

    fn columns(&self) -> Option<usize> {
        Some(self.columns.load(Ordering::Relaxed)).filter(|columns| *columns > 0)
    }
}

/// What a door is told about a call under way.
pub(crate) struct Updates {
    on_update: Option<OnUpdate>,
    look: Arc<Look>,
    windows: WindowRecord,
    ticks: Interval,
    last: Instant,
    /// Telling takes its share of the time only if there is this much between two updates.
    not_before: Instant,
}

impl Updates {
    pub(crate) fn new(on_update: Option<OnUpdate>, look: Arc<Look>, windows: WindowRecord) -> Self {
        let mut ticks = interval(UPDATE_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let now = Instant::now();
        Self {
            on_update,
            look,
            windows,
            ticks,
            last: now,
            not_before: now,
        }
    }

    /// Waits until it is time to look; for ever where nobody wants to know.
    pub(crate) async fn next(&mut self) {
        match self.on_update {
            Some(_) => _ = self.ticks.tick().await,
            None => std::future::pending().await,
        }
    }

    /// Tells how the windows look, if there is anything new to tell.
    pub(crate) fn tell(&mut self) {
        let Some(on_update) = &mut self.on_update else {
            return;
        };
        if Instant::now() < self.not_before {
            return;
        }
        if self.windows.has_changed() || self.last.elapsed() >= CLOCK_EVERY {
            self.last = Instant::now();
            if let Some(columns) = self.look.columns() {
                self.windows.set_columns(columns);
            }
            on_update(&self.windows, self.look.seen());
            self.not_before = self.last + self.last.elapsed() * TELLING_SHARE;
        }
    }
}
