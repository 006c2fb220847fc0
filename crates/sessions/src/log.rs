//! The growing files of a run, and whose lines they get.

/// A growing file of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Log {
    Events,
    Stdout,
    Stderr,
    Transcript,
}

/// Whose lines they are: a record that may not grow any more still gets ours, which are few.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Child,
    Owner,
}
