//! Finds out whether this process and the system have room for one more child.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pi_subagents_os::{Descriptors as _, System};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::machine_room::Claim;

/// The number of our descriptors that one child takes: three pipes, two for its keeper, one for the
/// end of the keeper, and the files of its record.
const PER_CHILD: u64 = 10;

/// The number of descriptors that are left for everything else: the short needs of one start,
/// sockets, other files.
const RESERVE: u64 = 16;

/// The number of times that a start is tried again while no child of ours could make room.
const TRIES_ALONE: u32 = 3;

/// The pause between two tries; others than our own children make room too.
const TRY_AGAIN: Duration = Duration::from_millis(500);

/// The longest time for which a start is tried.
const TRY_FOR: Duration = Duration::from_mins(10);

/// The children of this owner that have been started.
#[derive(Debug, Default)]
pub(crate) struct Room {
    children: AtomicUsize,
    freed: Notify,
}

/// The room that one child takes, here and on the machine.
#[derive(Debug)]
pub(crate) struct Place {
    room: Arc<Room>,
    _on_machine: Option<Claim>,
}

impl Room {
    /// Counts one more child, until the place is dropped.
    pub(crate) fn take(self: &Arc<Self>, on_machine: Option<Claim>) -> Place {
        self.children.fetch_add(1, Ordering::Relaxed);
        Place {
            room: Arc::clone(self),
            _on_machine: on_machine,
        }
    }

    /// Waits until a child of this owner has ended, or for a moment: those of others make room too.
    pub(crate) async fn wait_a_moment(&self) {
        _ = timeout(TRY_AGAIN, self.freed.notified()).await;
    }

    fn is_empty(&self) -> bool {
        self.children.load(Ordering::Relaxed) == 0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.room.children.fetch_sub(1, Ordering::Relaxed);
        self.room.freed.notify_waiters();
    }
}

/// The patience of a run for whose child there was no room.
#[derive(Debug)]
pub(crate) struct Patience {
    since: Instant,
    tries_alone: u32,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self {
            since: Instant::now(),
            tries_alone: 0,
        }
    }

    /// Waits for room. Returns false when waiting makes no sense any more.
    pub(crate) async fn wait_for(&mut self, room: &Room) -> bool {
        if room.is_empty() {
            self.tries_alone += 1;
        }
        if self.tries_alone > TRIES_ALONE || self.since.elapsed() > TRY_FOR {
            return false;
        }
        // The start is tried again in both cases: a child has ended, or the time is over.
        room.wait_a_moment().await;
        true
    }
}

/// Returns how many children fit into the descriptors that this process may have.
pub(crate) fn children_that_fit() -> usize {
    fit(System::limit(), System::open_count())
}

fn fit(limit: Option<u64>, open: usize) -> usize {
    let Some(limit) = limit else {
        return usize::MAX;
    };
    let taken = u64::try_from(open)
        .unwrap_or(u64::MAX)
        .saturating_add(RESERVE);
    let places = limit.saturating_sub(taken) / PER_CHILD;
    usize::try_from(places).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_descriptors_mean_few_children_but_always_one() {
        assert_eq!(fit(Some(64), 14), 3);
        assert_eq!(fit(Some(1024), 24), 98);
        assert_eq!(fit(Some(8), 14), 1);
        assert_eq!(fit(None, 14), usize::MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_alone_gives_up_soon_and_others_wait_for_a_place() {
        let room = Arc::<Room>::default();
        let mut alone = Patience::new();
        let mut tries = 0;
        while alone.wait_for(&room).await {
            tries += 1;
        }
        assert_eq!(tries, TRIES_ALONE);
        let place = room.take(None);
        let start = Instant::now();
        let mut patient = Patience::new();
        let (waited, ()) = tokio::join!(patient.wait_for(&room), async { drop(place) });
        assert_eq!((waited, start.elapsed()), (true, Duration::ZERO));
    }
}
