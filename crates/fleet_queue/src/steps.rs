//! The steps of a run from its order to its end. A test can let a caller or a worker die at each of
//! them.

use std::sync::OnceLock;

/// A step that a caller or a worker has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The order of the run is about to be given.
    Ordering,
    /// The message of the run has come.
    Delivered,
    /// The claim is written.
    Claimed,
    /// It is written that the child is about to be started.
    Begun,
    /// The child is done, and its end is not written.
    Done,
    /// The end is written, and the message is still in the queue.
    Ended,
    /// The message is out of the queue.
    Acknowledged,
}

impl Step {
    fn word(self) -> &'static str {
        match self {
            Self::Ordering => "ordering",
            Self::Delivered => "delivered",
            Self::Claimed => "claimed",
            Self::Begun => "begun",
            Self::Done => "done",
            Self::Ended => "ended",
            Self::Acknowledged => "acknowledged",
        }
    }
}

/// The step at which this process dies.
static DEATH: OnceLock<String> = OnceLock::new();

/// Lets this process die at a step, if it was built for development.
pub fn die_at(step: String) {
    // The first one counts.
    _ = DEATH.set(step);
}

/// Notes that a step is reached.
pub(crate) fn reached(step: Step) {
    if cfg!(debug_assertions) && DEATH.get().is_some_and(|name| name == step.word()) {
        std::process::abort();
    }
}
