//! Decides when the door of a call is updated: soon after something has changed, and never so often
//! that updating takes the time that working needs. Nothing wakes up while nothing changes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout_at};

/// The shortest pause between two updates of a door.
const UPDATE_EVERY: Duration = Duration::from_millis(50);

/// The share of the time that may go into updates: one part in this number.
const UPDATING_SHARE: u32 = 50;

/// The updates of the door of one call.
pub(crate) struct Updates {
    /// Wakes us when something has changed.
    changed: Arc<Notify>,
    update: Box<dyn FnMut() + Send>,
    pace: Pace,
}

impl Updates {
    /// Calls `update` after each change, and after each `clock` without a change, if there is a
    /// clock.
    pub(crate) fn new(
        changed: Arc<Notify>,
        clock: Option<Duration>,
        update: Box<dyn FnMut() + Send>,
    ) -> Self {
        Self {
            changed,
            update,
            pace: Pace::new(clock, Instant::now()),
        }
    }

    /// Waits until the next update is due. Nothing is lost if this is not waited for to its end.
    async fn next(&mut self) {
        sleep_until(self.pace.not_before).await;
        match self.pace.clock_at() {
            Some(at) => _ = timeout_at(at, self.changed.notified()).await,
            None => self.changed.notified().await,
        }
    }

    /// Updates the door.
    pub(crate) fn update(&mut self) {
        let begun = Instant::now();
        (self.update)();
        self.pace.updated(begun, begun.elapsed());
    }
}

/// Waits until the next update is due; for ever where the door does not follow the call.
pub(crate) async fn due(updates: &mut Option<Updates>) {
    match updates {
        Some(updates) => updates.next().await,
        None => std::future::pending().await,
    }
}

/// The rule for the time between two updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pace {
    /// The time after which there is an update although nothing has changed, if there is such an
    /// update.
    clock: Option<Duration>,
    last: Instant,
    not_before: Instant,
}

impl Pace {
    fn new(clock: Option<Duration>, now: Instant) -> Self {
        Self {
            clock,
            last: now,
            not_before: now,
        }
    }

    /// Takes when the last update began and how long it took.
    fn updated(&mut self, begun: Instant, took: Duration) {
        self.last = begun;
        self.not_before = begun + UPDATE_EVERY.max(took * UPDATING_SHARE);
    }

    /// Returns when there is an update although nothing has changed.
    fn clock_at(&self) -> Option<Instant> {
        self.clock.map(|every| self.last + every)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pretty_assertions::assert_eq;
    use tokio::time::timeout;

    use super::*;

    #[test]
    fn updates_are_bounded_in_number_and_in_what_they_cost() {
        let now = Instant::now();
        let mut pace = Pace::new(Some(Duration::from_secs(1)), now);
        assert_eq!(pace.not_before, now);
        pace.updated(now, Duration::from_micros(10));
        assert_eq!(pace.not_before, now + Duration::from_millis(50));
        assert_eq!(pace.clock_at(), Some(now + Duration::from_secs(1)));
        pace.updated(now, Duration::from_millis(40));
        assert_eq!(pace.not_before, now + Duration::from_secs(2));
        assert_eq!(Pace::new(None, now).clock_at(), None);
    }

    /// Counts the updates within some time, with a change now if `is_changed`.
    async fn count(clock: Option<Duration>, is_changed: bool, time: Duration) -> usize {
        let (changed, count) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&count);
        let mut updates = Updates::new(
            Arc::clone(&changed),
            clock,
            Box::new(move || _ = counted.fetch_add(1, Ordering::Relaxed)),
        );
        if is_changed {
            changed.notify_one();
        }
        let follow = async {
            loop {
                updates.next().await;
                updates.update();
            }
        };
        _ = timeout(time, follow).await;
        count.load(Ordering::Relaxed)
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_wakes_up_while_nothing_changes() {
        let minute = Duration::from_mins(1);
        assert_eq!(count(None, false, minute).await, 0);
        assert_eq!(count(None, true, minute).await, 1);
        let ten = Duration::from_secs(10);
        assert_eq!(count(Some(ten), false, Duration::from_secs(35)).await, 3);
    }
}
