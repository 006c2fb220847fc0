//! The state of a pause, in which a tree and its clocks stand still because the owner is about to be
//! stopped.

use tokio::sync::mpsc;

/// The state of a pause.
#[derive(Debug)]
pub(crate) enum Pause {
    /// The tree works.
    No,
    /// The keeper was asked to stop the tree. The sender of the pause waits until this is dropped.
    Asked(#[expect(dead_code, reason = "it tells by being dropped")] mpsc::Sender<()>),
    /// The tree is stopped.
    Yes,
}

impl Pause {
    /// Returns whether clocks stand still.
    pub(crate) fn stops_clocks(&self) -> bool {
        match self {
            Self::No => false,
            Self::Asked(_) | Self::Yes => true,
        }
    }

    /// Notes that the keeper has stopped the tree.
    pub(crate) fn tree_stopped(&mut self) {
        if matches!(self, Self::Asked(_)) {
            *self = Self::Yes;
        }
    }
}
