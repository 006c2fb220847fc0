//! Claims a run that the queue has handed to a worker.

use jiff::Timestamp;

use crate::claim::{ClaimDecision, Facts, GiveUp, Taking, decide, taking};
use crate::delivery::{Delivery, acknowledge};
use crate::error::FleetError;
use crate::heartbeat::Watched;
use crate::held_run::Held;
use crate::names::run_key;
use crate::runs::json;
use crate::steps::{Step, reached};
use crate::store::Written;
use crate::wire::{LeftBy, RunEntry, Running, SeenEntry};

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
    /// The run has ended; its message leaves the queue.
    Ended,
    /// A later delivery has the run.
    NotMine,
}

/// The outcome of a claim without a look at the entry.
enum Unseen {
    /// The run is taken on these terms, and this is the revision of the claim.
    Taken(Taking, u64),
    /// The claim may be written; the entry shows it.
    Written,
    /// There was an entry before.
    Late,
}

/// The workers that had a run before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Earlier {
    /// The workers that could not do it and left it to others, with their reasons. A run that shall
    /// not be begun at all has none, because any worker can end it.
    pub left_by: LeftBy,
    /// The worker from which the run would be taken.
    pub holder: Option<String>,
}

impl Delivery {
    /// Returns who had the run before.
    pub async fn earlier(&self, terms: &Terms) -> Result<Earlier, FleetError> {
        if self.n == 1 {
            return Ok(Earlier::default());
        }
        let (seen, stop, is_caller_gone) = tokio::try_join!(
            self.fleet.look_at_entry(&self.run),
            self.fleet.stop_wish(&self.run),
            self.is_caller_gone(terms),
        )?;
        let holder = match seen.value.state() {
            Some(RunEntry::Running(running)) => Some(running.worker.clone()),
            Some(RunEntry::Released(_) | RunEntry::Ended(_)) | None => None,
        };
        let state = seen
            .value
            .state()
            .filter(|_| stop.is_none() && !is_caller_gone);
        Ok(Earlier {
            left_by: state.map(RunEntry::left_by).unwrap_or_default(),
            holder,
        })
    }

    /// Claims the run for a worker, under the terms of its order.
    pub async fn claim(self, worker: &str, terms: &Terms) -> Result<Claim, FleetError> {
        reached(Step::Delivered);
        // A claim of ours whose answer did not come may stand in the entry.
        let mut may_be_written = false;
        if self.n == 1 {
            match self.claim_unseen(worker, terms).await? {
                Unseen::Taken(taking, revision) => {
                    return Ok(self.taken(worker, terms, &taking, revision));
                }
                Unseen::Written => may_be_written = true,
                Unseen::Late => {}
            }
        }
        for _ in 0..TRIES {
            // All three are looked at at once: each look is a way to the server and back.
            let (seen, stop, is_caller_gone) = tokio::try_join!(
                self.fleet.look_at_entry(&self.run),
                self.fleet.stop_wish(&self.run),
                self.is_caller_gone(terms),
            )?;
            let over = seen.revision;
            let facts = Facts {
                entry: seen.value.state(),
                unreadable: match &seen.value {
                    SeenEntry::Unreadable(why) => Some(why),
                    SeenEntry::Nothing | SeenEntry::State(_) => None,
                },
                n: self.n,
                retries: terms.retries,
                stop: stop.as_ref().map(|stop| stop.by.as_str()),
                is_caller_gone,
            };
            // Without a claim just now, the entry is that of an earlier delivery with our number: a
            // server that was killed may have forgotten its last counts. This worker may still be
            // at work on that.
            if let Some(own) = self
                .own_claim(worker, seen.value.state())
                .filter(|_| may_be_written)
            {
                let taking = Taking {
                    left_by: own.left_by.clone(),
                    ..taking(&facts, own.attempt, own.losses)
                };
                return Ok(self.taken(worker, terms, &taking, over));
            }
            let taking = match decide(&facts) {
                ClaimDecision::Acknowledge => {
                    acknowledge(&self.fleet, &self.ack).await;
                    return Ok(Claim::Ended);
                }
                ClaimDecision::Leave => return Ok(Claim::NotMine),
                ClaimDecision::Take(taking) => taking,
            };
            match self.write_claim(worker, &taking, over).await {
                Ok(Written::At(revision)) => {
                    return Ok(self.taken(worker, terms, &taking, revision));
                }
                Ok(Written::Late) => {}
                // It may have been written all the same: the next look shows it.
                Err(error) if error.is_passing() => may_be_written = true,
                Err(error) => return Err(error),
            }
        }
        Ok(Claim::NotMine)
    }

    /// Claims a run that was never delivered before, without a look: in all likelihood it has no
    /// entry, and whether somebody wants it to be stopped is looked at before its child begins.
    async fn claim_unseen(&self, worker: &str, terms: &Terms) -> Result<Unseen, FleetError> {
        let facts = Facts {
            entry: None,
            unreadable: None,
            n: self.n,
            retries: terms.retries,
            stop: None,
            is_caller_gone: false,
        };
        let first = taking(&facts, 1, 0);
        match self.write_claim(worker, &first, 0).await {
            Ok(Written::At(revision)) => Ok(Unseen::Taken(first, revision)),
            Ok(Written::Late) => Ok(Unseen::Late),
            Err(error) if error.is_passing() => Ok(Unseen::Written),
            Err(error) => Err(error),
        }
    }

    async fn is_caller_gone(&self, terms: &Terms) -> Result<bool, FleetError> {
        match &terms.call {
            Some(call) => self.fleet.is_caller_gone(call).await,
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
            left_by: taking.left_by.clone(),
        });
        let bucket = self.fleet.names().runs();
        self.fleet
            .write(&bucket, &run_key(&self.run), json(&entry), over)
            .await
    }

    /// Returns the entry if it is one that we wrote, with this delivery.
    fn own_claim<'a>(&self, worker: &str, entry: Option<&'a RunEntry>) -> Option<&'a Running> {
        match entry {
            Some(RunEntry::Running(running)) => {
                (running.n == self.n && running.worker == worker).then_some(running)
            }
            Some(RunEntry::Released(_) | RunEntry::Ended(_)) | None => None,
        }
    }

    fn taken(self, worker: &str, terms: &Terms, taking: &Taking, revision: u64) -> Claim {
        reached(Step::Claimed);
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
