//! The places of this server, which the calls that other processes do share: together they have no
//! more sub-agents at once than the person allows.

use std::sync::Arc;

use pi_subagents_calls::detached_process::{WaitedCall, WaitedReply};
use pi_subagents_ground::error::CommandError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places of one call.
pub(super) struct SharedPlaces {
    all: Arc<Semaphore>,
    held: Vec<OwnedSemaphorePermit>,
    /// The number of places that the call can still use.
    wanted: usize,
}

impl SharedPlaces {
    /// Makes the places of a call that can use this many of all.
    pub(super) fn new(all: &Arc<Semaphore>, wanted: usize) -> Self {
        Self {
            all: Arc::clone(all),
            held: Vec::new(),
            wanted,
        }
    }

    /// Returns the next reply of a call. Meanwhile the call gets the places that become free.
    pub(super) async fn next_reply(
        &mut self,
        call: &mut WaitedCall,
    ) -> Result<WaitedReply, CommandError> {
        loop {
            let place = tokio::select! {
                // A place that is not waited for to its end goes to another call.
                place = Arc::clone(&self.all).acquire_owned(), if self.held.len() < self.wanted => {
                    place
                }
                reply = call.next() => {
                    let reply = reply?;
                    self.give_back(&reply);
                    return Ok(reply);
                }
            };
            // Nobody closes the semaphore.
            self.held.extend(place);
            call.give_places(self.held.len()).await;
        }
    }

    /// Gives places back that the call has no more tasks for.
    fn give_back(&mut self, reply: &WaitedReply) {
        let left = match reply {
            WaitedReply::Progress(progress) => progress.total.saturating_sub(progress.finished),
            WaitedReply::Asked(_) => return,
            WaitedReply::Answered(_) => 0,
        };
        self.wanted = self.wanted.min(left);
        self.held.truncate(self.wanted);
    }
}
