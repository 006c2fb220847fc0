//! What owner and keeper say to each other: one JSON object per line on their socket.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// From the keeper to its owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Report {
    /// The child runs.
    Started { pid: u32 },
    /// The child could not be started.
    CouldNotStart { reason: String },
    /// The child itself exited, by a code or by a signal.
    Exited {
        code: Option<i32>,
        signal: Option<i32>,
    },
    /// Nothing of the tree is left.
    Gone {
        /// How many processes had to be killed.
        killed: usize,
    },
}

/// From the owner to its keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Order {
    /// End the tree: SIGTERM, this long, SIGKILL.
    Stop { grace: Duration },
}
