//! The time that events carry.

use std::time::Duration;

use pi_subagents_os::{Machine as _, System};
use pi_subagents_vocabulary::Timestamp;

/// Returns the time to the millisecond. The record keeps no more than that, so that an event that
/// is read back has the time it had when it was seen.
pub(crate) fn now() -> Timestamp {
    to_milliseconds(Timestamp::now())
}

fn to_milliseconds(time: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(time.as_millisecond()).unwrap_or(time)
}

/// The clock of one run. It goes on from the time at which the run began, so that the durations in
/// the record are right although somebody sets the clock of the machine meanwhile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunClock {
    begun: Timestamp,
    /// The time of the machine that nobody can set, in that moment.
    since_boot: Duration,
}

impl RunClock {
    /// Starts the clock.
    pub(crate) fn start() -> Self {
        Self {
            begun: now(),
            since_boot: System::since_boot(),
        }
    }

    /// Returns the time to the millisecond.
    pub(crate) fn now(&self) -> Timestamp {
        self.at(System::since_boot())
    }

    fn at(&self, since_boot: Duration) -> Timestamp {
        let elapsed = since_boot.saturating_sub(self.since_boot);
        let now = self.begun.checked_add(elapsed);
        to_milliseconds(now.unwrap_or(self.begun))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_lasts_as_long_as_it_lasts_whatever_the_clock_is_set_to() {
        let clock = RunClock {
            begun: "2026-11-18T06:00:00Z".parse().unwrap(),
            since_boot: Duration::from_secs(100),
        };
        let at = |milliseconds| clock.at(Duration::from_millis(milliseconds)).to_string();
        assert_eq!(at(100_000), "2026-11-18T06:00:00Z");
        assert_eq!(at(172_345), "2026-11-18T06:01:12.345Z");
        assert_eq!(at(99_000), "2026-11-18T06:00:00Z");
    }
}
