//! The free places of a worker, as the requests for runs count them.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Counts the runs that were let in since the beginning, and how many may be let in altogether. Both
/// numbers only grow with the runs that a worker takes, so it does not matter whether a run arrives
/// before or after the worker says how many places it has.
#[derive(Debug, Default)]
pub(crate) struct Places(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    let_in: usize,
    at_most: usize,
}

impl Places {
    /// Notes that a worker, which has taken so many runs since the beginning, has room for some more.
    pub(crate) fn offer(&self, taken: usize, free: usize) {
        self.counted().at_most = taken + free;
    }

    /// Lets a run in, if there is a place for it.
    pub(crate) fn let_in(&self) -> bool {
        let mut counted = self.counted();
        let has_place = counted.let_in < counted.at_most;
        counted.let_in += usize::from(has_place);
        has_place
    }

    /// Returns the number of runs that may still be let in.
    pub(crate) fn left(&self) -> usize {
        let counted = self.counted();
        counted.at_most.saturating_sub(counted.let_in)
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_arrives_before_the_worker_counts_its_places_takes_one_of_them() {
        let places = Places::default();
        places.offer(0, 2);
        assert!(places.let_in());
        // The worker has not taken that run yet when it says again that it has two places.
        places.offer(0, 2);
        assert_eq!(places.left(), 1);
        assert!(places.let_in() && !places.let_in());
        // It has taken both, and one of them has ended.
        places.offer(2, 1);
        assert_eq!(places.left(), 1);
        places.offer(2, 0);
        assert!(!places.let_in());
    }
}
