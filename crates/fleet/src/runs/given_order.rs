//! An order as it was given, for a fleet that has lost it.

use bytes::Bytes;
use pi_subagents_fleet_queue::{Again, Fleet, FleetError, HeaderMap, Submission, Submitted};
use pi_subagents_vocabulary::{Priority, RunId};

/// An order that was given, and can be given again.
#[derive(Debug, Clone)]
pub(crate) struct GivenOrder {
    pub(crate) pool: String,
    pub(crate) priority: Priority,
    /// The order as JSON.
    pub(crate) payload: Bytes,
    /// The signature of its caller.
    pub(crate) headers: HeaderMap,
}

impl GivenOrder {
    /// Gives the order for the first time, or again because the queue has lost it. A run is in the
    /// queue once, however often it is given.
    pub(crate) async fn give(
        &self,
        fleet: &Fleet,
        run: &RunId,
        again: Option<Again>,
    ) -> Result<Submitted, FleetError> {
        let submission = Submission {
            run,
            pool: &self.pool,
            priority: self.priority,
            payload: self.payload.clone(),
            headers: self.headers.clone(),
            again,
        };
        fleet.submit(&submission).await
    }
}
