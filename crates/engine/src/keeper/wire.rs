//! What owner and keeper say to each other: one JSON object per line on their socket.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What the owner may hand over beside the child's stdin. One byte says what comes, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handed {
    /// The key of the child's provider, which the child inherits.
    Key,
    /// The lock of the child's session, which the keeper alone holds.
    Lock,
}

impl Handed {
    /// The byte when nothing but stdin comes.
    pub(crate) const NOTHING_MORE: u8 = b'@';

    /// What it adds to the byte.
    pub(crate) fn bit(self) -> u8 {
        match self {
            Self::Key => 1,
            Self::Lock => 2,
        }
    }
}

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
