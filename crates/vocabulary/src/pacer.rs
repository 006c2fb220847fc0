//! Limits how often work is done that the eye cannot follow any faster.

use std::time::{Duration, Instant};

/// Spaces out work that is due whenever something has changed: it is done at once after a quiet
/// time, and otherwise once per pause.
#[derive(Debug, Clone)]
pub struct Pacer {
    pause: Duration,
    has_changed: bool,
    not_before: Option<Instant>,
}

impl Pacer {
    /// Makes a pacer for work that is done at most once per `pause`.
    pub fn new(pause: Duration) -> Self {
        Self {
            pause,
            has_changed: false,
            not_before: None,
        }
    }

    /// Notes that something has changed, so that there is work to do.
    pub fn note_change(&mut self) {
        self.has_changed = true;
    }

    /// Returns whether something has changed since the work was last done.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Returns when the work is due, which may be now; `None` while nothing has changed.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        let earliest = self.not_before.map_or(now, |earliest| earliest.max(now));
        self.has_changed.then_some(earliest)
    }

    /// Notes that the work was done at this moment.
    pub fn note_done(&mut self, now: Instant) {
        self.has_changed = false;
        self.not_before = Some(now + self.pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_millis(200);

    #[test]
    fn the_first_change_is_due_at_once_and_the_next_after_a_pause() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut pacer = Pacer::new(PAUSE);
        assert_eq!(pacer.due(start), None);
        pacer.note_change();
        assert_eq!(pacer.due(start), Some(start));
        pacer.note_done(start);
        assert_eq!(pacer.due(at(10)), None);
        pacer.note_change();
        assert_eq!(pacer.due(at(10)), Some(at(200)));
        assert_eq!(pacer.due(at(900)), Some(at(900)));
    }
}
