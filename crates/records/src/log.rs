//! The growing files of a run, and whose lines they get.

/// A growing file of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Log {
    Events,
    Stdout,
    Stderr,
    Transcript,
}

/// The author of a line. A record that may not grow any more still takes the lines of the owner,
/// which are few.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Child,
    Owner,
}
