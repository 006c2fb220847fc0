//! Tells the runs that go on by themselves from those that nobody does any more: their order is gone
//! from the queue, and no worker answers for them.

use std::time::Duration;

use bytes::Bytes;
use pi_subagents_vocabulary::RunId;

use crate::connect::Fleet;
use crate::control::Asked;
use crate::error::FleetError;
use crate::names::run_key;
use crate::wire::{RunEntry, SeenEntry};

/// The time that a worker may take to answer for a run. Somebody who listens and does not answer
/// counts as one who answers.
const TO_ANSWER: Duration = Duration::from_secs(2);

/// The state of a run in the fleet, as somebody sees it who waits for its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knowledge {
    /// It goes on by itself: its order is in the queue, a worker answers for it, or it has ended.
    GoesOn,
    /// The fleet knows nothing of it.
    Nothing,
    /// Its order is gone, and nobody does it. Its entry has this revision, and names this delivery.
    Abandoned {
        /// The revision of its entry.
        revision: u64,
        /// The number of the last delivery.
        n: u64,
    },
    /// Its order is gone, and nobody can tell from its entry who does it.
    Unreadable {
        /// The revision of its entry.
        revision: u64,
        /// The fault in the entry.
        why: String,
    },
}

impl Fleet {
    /// Looks whether a run goes on by itself. The queue comes first: an order leaves it only when the
    /// entry says that its run has ended, or when somebody has thrown it away.
    pub async fn look_for_run(&self, run: &RunId) -> Result<Knowledge, FleetError> {
        if self.is_queued(run).await? {
            return Ok(Knowledge::GoesOn);
        }
        let bucket = self.names().runs();
        let subject = bucket.subject(&run_key(run));
        if !self.has_subject(&bucket.stream(), &subject).await? {
            return Ok(Knowledge::Nothing);
        }
        let seen = self.look_at_entry(run).await?;
        let revision = seen.revision;
        Ok(match seen.value {
            SeenEntry::State(RunEntry::Ended(_)) => Knowledge::GoesOn,
            SeenEntry::State(RunEntry::Released(given)) => {
                let n = given.n;
                Knowledge::Abandoned { revision, n }
            }
            SeenEntry::State(RunEntry::Running(running)) => {
                if self.does(&running.worker, run).await? {
                    return Ok(Knowledge::GoesOn);
                }
                let n = running.n;
                Knowledge::Abandoned { revision, n }
            }
            SeenEntry::Unreadable(why) => {
                if self.does_anybody(run).await? {
                    return Ok(Knowledge::GoesOn);
                }
                Knowledge::Unreadable { revision, why }
            }
            SeenEntry::Nothing => Knowledge::Nothing,
        })
    }

    /// Returns whether a worker does a run: it listens for requests about it, or its card names the
    /// run. A card stays for a lease after the last sign of its worker, and by then a worker that is
    /// only cut off has stopped its child.
    async fn does(&self, worker: &str, run: &RunId) -> Result<bool, FleetError> {
        let asked = self.ask_worker(worker, run, Bytes::new(), TO_ANSWER);
        if asked.await != Asked::NobodyThere {
            return Ok(true);
        }
        let workers = self.workers().await?;
        let mut card = workers.iter().filter(|(name, _)| name == worker);
        Ok(card.any(|(_, card)| card.runs.iter().any(|one| one == run.as_str())))
    }

    /// Returns whether any worker that is there does a run.
    async fn does_anybody(&self, run: &RunId) -> Result<bool, FleetError> {
        let workers = self.workers().await?;
        let mut cards = workers.iter().map(|(_, card)| card);
        Ok(cards.any(|card| card.runs.iter().any(|one| one == run.as_str())))
    }
}
