//! Finds out whether the owner of a run still watches its clock.

use std::time::Duration;

use tokio::time::Instant;

/// The time after the deadline of its run for which an owner may give no sign.
const SILENCE: Duration = Duration::from_secs(30);

/// An alarm that comes this late means that this process itself was stopped. The owner may have
/// been stopped too and needs time for its sign.
const LATE: Duration = Duration::from_secs(5);

/// The last sign of an owner. An owner that is stopped lets the deadline of its run pass, and then
/// its keeper ends the run in its place.
#[derive(Debug, Default)]
pub(super) struct OwnerSign {
    ends_at: Option<Instant>,
}

impl OwnerSign {
    /// Notes a sign of the owner, with the time that is left for its run.
    pub(super) fn note(&mut self, now: Instant, left: Duration) {
        self.ends_at = now
            .checked_add(left)
            .and_then(|deadline| deadline.checked_add(SILENCE));
    }

    /// Notes that the owner will give no sign until it is continued.
    pub(super) fn pause(&mut self) {
        self.ends_at = None;
    }

    /// Returns when to look again.
    pub(super) fn alarm(&self) -> Option<Instant> {
        self.ends_at
    }

    /// Returns whether the run is to be ended without its owner.
    pub(super) fn is_overdue(&mut self, now: Instant) -> bool {
        match self.ends_at {
            Some(ends_at) if now >= ends_at + LATE => {
                self.note(now, Duration::ZERO);
                false
            }
            Some(ends_at) => now >= ends_at,
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn sign_of(start: Instant, left: u32) -> OwnerSign {
        let mut sign = OwnerSign::default();
        sign.note(start, SECOND * left);
        sign
    }

    #[test]
    fn an_owner_that_is_silent_for_30_s_after_the_deadline_is_not_waited_for() {
        let start = Instant::now();
        let mut sign = sign_of(start, 10);
        assert_eq!(sign.alarm(), Some(start + SECOND * 40));
        assert!(!sign.is_overdue(start + SECOND * 39));
        assert!(sign.is_overdue(start + SECOND * 40));
    }

    #[test]
    fn a_sign_moves_it_and_a_pause_takes_it_away() {
        let start = Instant::now();
        let mut sign = sign_of(start, 10);
        sign.note(start + SECOND * 10, SECOND * 60);
        assert!(!sign.is_overdue(start + SECOND * 99));
        sign.pause();
        assert_eq!(sign.alarm(), None);
        assert!(!sign.is_overdue(start + SECOND * 1000));
    }

    #[test]
    fn a_keeper_that_was_stopped_itself_gives_its_owner_time() {
        let start = Instant::now();
        let mut sign = sign_of(start, 10);
        assert!(!sign.is_overdue(start + SECOND * 1000));
        assert!(sign.is_overdue(start + SECOND * 1030));
    }

    #[test]
    fn without_a_deadline_nothing_is_overdue() {
        assert!(!OwnerSign::default().is_overdue(Instant::now()));
    }
}
