//! Decides how long a request is tried again that fails for a reason which passes by itself:
//! servers that choose a leader, or that are started again.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::error::FleetError;

/// The time between two tries.
const PAUSE: Duration = Duration::from_millis(500);

/// A time within which something is tried again.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    end: Instant,
}

impl Patience {
    /// Begins to be patient, for so long.
    pub fn of(time: Duration) -> Self {
        Self {
            end: Instant::now() + time,
        }
    }

    /// Waits a moment after a failure that passes. Returns every other failure, and the last one
    /// when the time is over.
    pub async fn after(self, failure: FleetError) -> Result<(), FleetError> {
        if !failure.is_passing() || Instant::now() >= self.end {
            return Err(failure);
        }
        tracing::debug!("fleet: tried again: {failure}");
        sleep(PAUSE).await;
        Ok(())
    }
}
