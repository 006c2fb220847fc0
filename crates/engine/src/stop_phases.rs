//! The clocks of a child's ending: how long it may take to settle, to leave and to die.
//!
//! The order of the steps is in `docs/design/stopping.md`.

use std::time::Duration;

use pi_subagents_vocabulary::Decision;
use tokio::time::Instant;

/// The phase of a run on its way to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The child works.
    Working,
    /// The child got an abort command and may settle until then.
    Aborting { until: Instant, pace: Pace },
    /// The child's stdin is closed and it may leave by itself until then.
    Leaving { until: Instant, pace: Pace },
    /// The keeper ends the tree and has to report that until then.
    Ending { until: Instant, keeper: Trust },
    /// The tree is gone; its last output may still be in the pipes until then.
    Draining { until: Instant },
}

/// The steps against a keeper that does not report that the tree is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It got its order.
    Ordered,
    /// It was continued, in case that somebody had stopped it.
    Roused,
    /// It was killed, and the processes that it kept are ours to end.
    Killed,
}

/// The time that each step of an ending takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    /// From the abort to the moment stdin is closed.
    pub(crate) settle: Duration,
    /// From there to SIGTERM.
    pub(crate) leave: Duration,
    /// From there to SIGKILL.
    pub(crate) grace: Duration,
}

/// The pace for a child that settled by itself and needs only to exit.
pub(crate) const AFTER_ITS_ANSWER: Pace = Pace {
    settle: Duration::ZERO,
    leave: Duration::from_secs(2),
    grace: Duration::from_secs(5),
};

/// The pace for a child that has reported: its turn ends by itself, unless its model called more
/// tools.
pub(crate) const AFTER_ITS_REPORT: Pace = Pace {
    settle: Duration::from_secs(1),
    ..AFTER_ITS_ANSWER
};

/// The pace for a child that we end; all steps together stay below six seconds.
const ON_DECISION: Pace = Pace {
    settle: Duration::from_millis(600),
    leave: Duration::from_millis(100),
    grace: Duration::from_secs(5),
};

/// The pace for a child whose owner must end. It is fast, because the sender of the owner's signal
/// waits.
const ON_SHUTDOWN: Pace = Pace {
    settle: Duration::from_millis(300),
    leave: Duration::from_millis(100),
    grace: Duration::from_secs(1),
};

/// The time that a keeper may take beyond the grace of its order.
const KEEPER: Duration = Duration::from_secs(2);

/// The time for which the pipes of a dead tree are read.
const DRAIN: Duration = Duration::from_secs(1);

impl Pace {
    pub(crate) fn of(decision: Decision) -> Self {
        match decision {
            Decision::Shutdown(_) => ON_SHUTDOWN,
            Decision::TimedOut { .. }
            | Decision::Looped { .. }
            | Decision::Overspent(_)
            | Decision::OutOfTurns { .. }
            | Decision::Stop => ON_DECISION,
        }
    }
}

impl Phase {
    pub(crate) fn aborting(now: Instant, pace: Pace) -> Self {
        let until = now + pace.settle;
        Self::Aborting { until, pace }
    }

    pub(crate) fn leaving(now: Instant, pace: Pace) -> Self {
        let until = now + pace.leave;
        Self::Leaving { until, pace }
    }

    /// Begins the phase in which the keeper ends the tree, with this grace.
    pub(crate) fn ending(now: Instant, grace: Duration) -> Self {
        let until = now + grace + KEEPER;
        let keeper = Trust::Ordered;
        Self::Ending { until, keeper }
    }

    /// Begins the next step against a keeper that did not report in time that the tree is gone.
    pub(crate) fn without_keeper(now: Instant, keeper: Trust) -> Self {
        let until = now + KEEPER;
        Self::Ending { until, keeper }
    }

    /// Returns the same phase after a pause of the owner, with as much time left as before.
    #[must_use]
    pub(crate) fn after_pause(self, pause: Duration) -> Self {
        let later = |until: Instant| until + pause;
        match self {
            Self::Working => Self::Working,
            Self::Aborting { until, pace } => Self::Aborting {
                until: later(until),
                pace,
            },
            Self::Leaving { until, pace } => Self::Leaving {
                until: later(until),
                pace,
            },
            Self::Ending { until, keeper } => Self::Ending {
                until: later(until),
                keeper,
            },
            Self::Draining { until } => Self::Draining {
                until: later(until),
            },
        }
    }

    pub(crate) fn draining(now: Instant) -> Self {
        Self::Draining { until: now + DRAIN }
    }

    /// Returns when the next step is due, if it is a matter of time.
    pub(crate) fn alarm(self) -> Option<Instant> {
        match self {
            Self::Working => None,
            Self::Aborting { until, .. }
            | Self::Leaving { until, .. }
            | Self::Ending { until, .. }
            | Self::Draining { until } => Some(until),
        }
    }
}
