//! Limits the memory that the children's lines take at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A budget in bytes, shared by all children of an owner.
#[derive(Debug, Clone)]
pub(crate) struct LineMemory(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    limit: usize,
    taken: AtomicUsize,
}

impl LineMemory {
    /// Makes a budget of this many bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self(Arc::new(Budget {
            limit,
            taken: AtomicUsize::new(0),
        }))
    }

    /// Makes an empty share of the budget, which gives its bytes back when it is dropped.
    pub(crate) fn hold(&self) -> Hold {
        Hold {
            budget: Arc::clone(&self.0),
            bytes: 0,
        }
    }
}

/// The part of the budget that one line takes.
#[derive(Debug)]
pub(crate) struct Hold {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Hold {
    /// Takes more; false, and nothing taken, when the budget is used up.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let taken = self
            .budget
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                taken
                    .checked_add(bytes)
                    .filter(|sum| *sum <= self.budget.limit)
            });
        if taken.is_ok() {
            self.bytes += bytes;
        }
        taken.is_ok()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.budget.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_can_be_taken_again() {
        let memory = LineMemory::new(100);
        let mut first = memory.hold();
        let mut second = memory.hold();
        assert!(first.grow(60));
        assert!(!second.grow(60));
        assert!(second.grow(40));
        drop(first);
        assert!(second.grow(60));
    }
}
