//! Claims a run that the queue has handed to a worker.

use jiff::Timestamp;

use crate::ask::parse;
use crate::claim::{Decision, Facts, GiveUp, Taking, decide};
use crate::delivery::{Delivery, acknowledge};
use crate::error::FleetError;
use crate::heartbeat::Watched;
use crate::held::Held;
use crate::names::run_key;
use crate::runs::json;
use crate::store::{LastWrite, Written};
use crate::wire::{RunEntry, Running};

/// The number of times that a claim is tried while others write at the same time.
const TRIES: u32 = 20;

/// The terms under which an order may be claimed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms {
    /// The number of times that the run is begun again after its worker was lost.
    pub retries: u32,
    /// The call whose caller waits for it; `None` for a run in the background.
    pub call: Option<String>,
}

/// The outcome of a claim.
#[derive(Debug)]
pub enum Claim {
    /// The run is ours to run.
    Mine(Held),
    /// The run is ours to end, for this reason.
    GaveUp(GiveUp, Held),
    /// The run has ended; its message is out of the queue.
    Ended,
    /// A later delivery has the run.
    NotMine,
}

impl Delivery {
    /// Claims the run for a worker, under the terms of its order.
    pub async fn claim(self, worker: &str, terms: &Terms) -> Result<Claim, FleetError> {
        let mut unanswered: Option<Taking> = None;
        for _ in 0..TRIES {
            let (bucket, key) = (self.fleet.names().runs(), run_key(&self.run));
            // All three are looked at at once: each look is a way to the server and back.
            let (seen, stop, is_caller_gone) = tokio::try_join!(
                self.fleet.last_write(&bucket, &key),
                self.fleet.stop_wish(&self.run),
                self.is_caller_gone(terms),
            )?;
            let over = seen.as_ref().map_or(0, |write| write.revision);
            let entry = seen.as_ref().map(entry_of).transpose()?.flatten();
            if let Some(taking) = &unanswered
                && self.is_own_claim(worker, entry.as_ref())
            {
                let taking = taking.clone();
                return Ok(self.taken(worker, terms, &taking, over));
            }
            let facts = Facts {
                entry: entry.as_ref(),
                n: self.n,
                retries: terms.retries,
                stop: stop.as_ref().map(|stop| stop.by.as_str()),
                is_caller_gone,
            };
            let taking = match decide(&facts) {
                Decision::Acknowledge => {
                    acknowledge(&self.fleet, &self.ack).await;
                    return Ok(Claim::Ended);
                }
                Decision::Leave => return Ok(Claim::NotMine),
                Decision::Take(taking) => taking,
            };
            match self.write_claim(worker, &taking, over).await {
                Ok(Written::At(revision)) => {
                    return Ok(self.taken(worker, terms, &taking, revision));
                }
                Ok(Written::Late) => {}
                // It may have been written all the same: the next look shows it.
                Err(error) if error.is_passing() => unanswered = Some(taking),
                Err(error) => return Err(error),
            }
        }
        Ok(Claim::NotMine)
    }

    async fn is_caller_gone(&self, terms: &Terms) -> Result<bool, FleetError> {
        match &terms.call {
            Some(call) => Ok(!self.fleet.has_caller(call).await?),
            None => Ok(false),
        }
    }

    async fn write_claim(
        &self,
        worker: &str,
        taking: &Taking,
        over: u64,
    ) -> Result<Written, FleetError> {
        let entry = RunEntry::Running(Running {
            worker: worker.to_owned(),
            n: self.n,
            since: Timestamp::now().to_string(),
            attempt: taking.attempt,
            begun: false,
            losses: taking.losses,
        });
        let bucket = self.fleet.names().runs();
        self.fleet
            .write(&bucket, &run_key(&self.run), json(&entry), over)
            .await
    }

    /// Returns whether we wrote an entry, with this delivery.
    fn is_own_claim(&self, worker: &str, entry: Option<&RunEntry>) -> bool {
        let is_own = |running: &Running| running.n == self.n && running.worker == worker;
        matches!(entry, Some(RunEntry::Running(running)) if is_own(running))
    }

    fn taken(self, worker: &str, terms: &Terms, taking: &Taking, revision: u64) -> Claim {
        self.heartbeat.watch_run(Watched {
            run: self.run.clone(),
            worker: worker.to_owned(),
            n: self.n,
            call: terms.call.clone(),
        });
        let give_up = taking.give_up.clone();
        let held = Held::new(self, worker, taking, revision);
        match give_up {
            Some(why) => Claim::GaveUp(why, held),
            None => Claim::Mine(held),
        }
    }
}

fn entry_of(write: &LastWrite) -> Result<Option<RunEntry>, FleetError> {
    let Some(value) = &write.value else {
        return Ok(None);
    };
    parse(&write.key, value).map(Some)
}
