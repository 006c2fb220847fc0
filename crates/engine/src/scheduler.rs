//! Decides which run starts next: the owner-wide limit on children, and the queue of waiting runs.

use std::collections::VecDeque;

/// Hands out places to `T`s in the order they came.
#[derive(Debug)]
pub(crate) struct Scheduler<T> {
    limit: usize,
    taken: usize,
    waiting: VecDeque<T>,
}

impl<T: PartialEq> Scheduler<T> {
    /// Makes a scheduler with this many places.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            taken: 0,
            waiting: VecDeque::new(),
        }
    }

    /// Puts a run at the end of the queue.
    pub(crate) fn enqueue(&mut self, one: T) {
        self.waiting.push_back(one);
    }

    /// Gives the next free place to a waiting run, if there are both.
    pub(crate) fn next(&mut self) -> Option<T> {
        if self.taken >= self.limit {
            return None;
        }
        let one = self.waiting.pop_front()?;
        self.taken += 1;
        Some(one)
    }

    /// Returns those that wait, the next one first.
    pub(crate) fn in_line(&self) -> impl Iterator<Item = &T> {
        self.waiting.iter()
    }

    /// Changes the number of places. Runs that have one keep it.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Returns how many places are free.
    pub(crate) fn free(&self) -> usize {
        self.limit.saturating_sub(self.taken)
    }

    /// Returns how many wait for a place.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes a place back.
    pub(crate) fn release(&mut self) {
        self.taken = self.taken.saturating_sub(1);
    }

    /// Gives a place to a run that had lent its own, also if none is free.
    pub(crate) fn retake(&mut self) {
        self.taken += 1;
    }

    /// Takes a run out of the queue. Returns whether it was there.
    pub(crate) fn withdraw(&mut self, one: &T) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|waiting| waiting != one);
        self.waiting.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_in_order_and_never_more_than_the_limit() {
        let mut scheduler = Scheduler::new(2);
        for one in ["a", "b", "c", "d"] {
            scheduler.enqueue(one);
        }
        assert_eq!(
            [scheduler.next(), scheduler.next(), scheduler.next()],
            [Some("a"), Some("b"), None]
        );
        assert!(scheduler.withdraw(&"c"));
        assert!(!scheduler.withdraw(&"a"));
        scheduler.release();
        assert_eq!([scheduler.next(), scheduler.next()], [Some("d"), None]);
    }

    #[test]
    fn a_lent_place_is_taken_back_at_once() {
        let mut scheduler = Scheduler::new(1);
        for one in ["a", "b", "c"] {
            scheduler.enqueue(one);
        }
        assert_eq!([scheduler.next(), scheduler.next()], [Some("a"), None]);
        scheduler.release();
        assert_eq!([scheduler.next(), scheduler.next()], [Some("b"), None]);
        scheduler.retake();
        scheduler.release();
        assert_eq!((scheduler.next(), scheduler.free()), (None, 0));
        scheduler.release();
        assert_eq!(scheduler.next(), Some("c"));
    }

    #[test]
    fn places_can_come_later() {
        let mut scheduler = Scheduler::new(0);
        scheduler.enqueue("a");
        scheduler.enqueue("b");
        assert_eq!(scheduler.next(), None);
        scheduler.set_limit(1);
        assert_eq!([scheduler.next(), scheduler.next()], [Some("a"), None]);
        scheduler.set_limit(2);
        assert_eq!(scheduler.next(), Some("b"));
    }
}
