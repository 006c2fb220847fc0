//! The messages between owner and keeper: one JSON object per line on their socket.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// From the keeper to its owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Report {
    /// The child runs.
    Started { pid: u32 },
    /// The child could not be started.
    CouldNotStart {
        reason: String,
        /// True if the system had no room for the child. A later try may succeed.
        for_want_of_room: bool,
    },
    /// The sandbox of the child could not be made. Nothing was run.
    NotConfined { reason: String },
    /// Something about the child that a person should know.
    Noted { text: String },
    /// The child itself exited, by a code or by a signal.
    Exited {
        code: Option<i32>,
        signal: Option<i32>,
    },
    /// Every process of the tree is stopped.
    Paused,
    /// Somebody else than the owner sent the keeper a signal to end, and it ends the tree now.
    Stopping,
    /// The deadline is long over and the owner gave no sign: the keeper ends the tree.
    Overdue,
    /// Nothing of the tree is left.
    Gone {
        /// The number of processes that had to be killed.
        killed: usize,
    },
}

/// From the owner to its keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Order {
    /// End the tree: SIGTERM, this long, SIGKILL.
    Stop { grace: Duration },
    /// The time that is left for the run; the owner gives another sign then at the latest.
    Deadline { left: Duration },
    /// Stop every process of the tree: the owner is about to be stopped itself.
    Pause,
    /// Let the tree go on.
    Resume,
}
