//! The deadline of a run: its own time, and the silence of its tools once that is over.

use std::time::Duration;

use pi_subagents_vocabulary::{Decision, Limits};
use tokio::time::Instant;

/// Ends a run when its time is over and no tool is at work.
///
/// Time runs from the start of the child. Each sign of a tool moves the end to
/// [`Limits::extension`] after that sign, if that is later; text alone moves nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    limit: Duration,
    extension: Duration,
    ends_at: Instant,
}

impl Deadline {
    /// Makes the deadline of a child that started now; `None` where the time is not limited.
    pub(crate) fn new(now: Instant, limits: &Limits) -> Option<Self> {
        let limit = limits.timeout?;
        Some(Self {
            limit,
            extension: limits.extension,
            ends_at: now.checked_add(limit)?,
        })
    }

    /// Moves the deadline, because a tool started, reported or ended.
    pub(crate) fn tool_was_at_work(&mut self, now: Instant) {
        if let Some(extended) = now.checked_add(self.extension) {
            self.ends_at = self.ends_at.max(extended);
        }
    }

    /// Moves the deadline by a pause of the owner.
    pub(crate) fn paused(&mut self, pause: Duration) {
        if let Some(later) = self.ends_at.checked_add(pause) {
            self.ends_at = later;
        }
    }

    /// Returns when to check again.
    pub(crate) fn alarm(&self) -> Instant {
        self.ends_at
    }

    /// Returns the decision to end the run, if its time is over.
    pub(crate) fn check(&self, now: Instant) -> Option<Decision> {
        (now >= self.ends_at).then_some(Decision::TimedOut { limit: self.limit })
    }
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::Allowance;

    use super::*;

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    fn deadline(start: Instant, timeout: u64, extension: u64) -> Deadline {
        let limits = Limits {
            timeout: Some(Duration::from_secs(timeout)),
            extension: Duration::from_secs(extension),
            repetitions: 0,
            turns: None,
            allowance: Allowance::default(),
            window_share: None,
            ends_at_once: false,
        };
        Deadline::new(start, &limits).unwrap()
    }

    fn timed_out(limit: u64) -> Decision {
        Decision::TimedOut {
            limit: Duration::from_secs(limit),
        }
    }

    #[test]
    fn a_run_without_tools_ends_at_its_timeout() {
        let start = Instant::now();
        let deadline = deadline(start, 10, 30);
        assert_eq!(deadline.check(after(start, 9)), None);
        assert_eq!(deadline.check(after(start, 10)), Some(timed_out(10)));
        assert_eq!(deadline.alarm(), after(start, 10));
    }

    #[test]
    fn tools_at_work_extend_it_and_their_silence_ends_it() {
        let start = Instant::now();
        let mut deadline = deadline(start, 10, 30);
        deadline.tool_was_at_work(after(start, 9));
        assert_eq!(deadline.check(after(start, 38)), None);
        deadline.tool_was_at_work(after(start, 38));
        assert_eq!(deadline.check(after(start, 67)), None);
        assert_eq!(deadline.check(after(start, 68)), Some(timed_out(10)));
    }

    #[test]
    fn tools_long_before_the_timeout_do_not_shorten_it() {
        let start = Instant::now();
        let mut deadline = deadline(start, 100, 5);
        deadline.tool_was_at_work(after(start, 1));
        assert_eq!(deadline.alarm(), after(start, 100));
    }

    #[test]
    fn an_extension_of_zero_ends_it_at_its_timeout() {
        let start = Instant::now();
        let mut deadline = deadline(start, 10, 0);
        deadline.tool_was_at_work(after(start, 9));
        assert_eq!(deadline.check(after(start, 10)), Some(timed_out(10)));
    }

    #[test]
    fn a_pause_does_not_count() {
        let start = Instant::now();
        let mut deadline = deadline(start, 10, 30);
        deadline.paused(Duration::from_mins(1));
        assert_eq!(deadline.check(after(start, 69)), None);
        assert_eq!(deadline.check(after(start, 70)), Some(timed_out(10)));
    }

    #[test]
    fn a_run_without_a_timeout_has_no_deadline() {
        let limits = Limits {
            timeout: None,
            extension: Duration::from_secs(30),
            repetitions: 5,
            turns: None,
            allowance: Allowance::default(),
            window_share: None,
            ends_at_once: false,
        };
        assert!(Deadline::new(Instant::now(), &limits).is_none());
    }
}
