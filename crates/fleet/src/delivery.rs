//! A run that the queue has handed to this worker, and how the worker claims it.

use std::time::Duration;

use async_nats::{HeaderMap, Message};
use bytes::Bytes;
use jiff::Timestamp;
use pi_subagents_delegation::RunId;

use crate::claim::{Decision, Facts, GiveUp, Taking, decide};
use crate::connect::Fleet;
use crate::error::FleetError;
use crate::heartbeat::{Heartbeat, Watched};
use crate::held::Held;
use crate::lease::Lease;
use crate::names::run_key;
use crate::runs::json;
use crate::store::{LastWrite, Written};
use crate::wire::{Priority, RunEntry, Running};

/// How often a claim is tried when others write at the same time.
const TRIES: u32 = 20;

/// One hand-over of a run to this worker. Its signs of life have begun; they end when it is
/// dropped, and then the queue hands the run to another worker after the lease.
#[derive(Debug)]
pub struct Delivery {
    pub(crate) fleet: Fleet,
    pub(crate) run: RunId,
    pub(crate) n: u64,
    pub(crate) ack: String,
    pub(crate) heartbeat: Heartbeat,
    pool: String,
    priority: Priority,
    payload: Bytes,
    headers: HeaderMap,
}

/// What an order says about its own claiming.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms {
    /// How often the run is begun again after its worker was lost.
    pub retries: u32,
    /// The call whose caller waits for it; none for a run in the background.
    pub call: Option<String>,
}

/// How a claim came out.
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
    /// Reads a message of the queue, and begins with its signs of life.
    pub(crate) fn of(fleet: &Fleet, message: Message, lease: Lease) -> Option<Self> {
        let ack = message.reply.as_ref()?.to_string();
        let n = delivery_number(&ack)?;
        let rest = message.subject.strip_prefix(&fleet.names().subjects())?;
        let mut tokens = rest.strip_prefix("work.")?.split('.');
        let (pool, priority, run) = (tokens.next()?, tokens.next()?, tokens.next()?);
        Some(Self {
            fleet: fleet.clone(),
            run: RunId::parse(run).ok()?,
            n,
            heartbeat: Heartbeat::begin(fleet.clone(), ack.clone(), lease),
            ack,
            pool: pool.to_owned(),
            priority: Priority::of_word(priority)?,
            payload: message.payload,
            headers: message.headers.unwrap_or_default(),
        })
    }

    /// Returns the run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns the number of this delivery.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Returns the pool it came through.
    pub fn pool(&self) -> &str {
        &self.pool
    }

    /// Returns how urgent it is.
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// Returns the order as it was submitted.
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// Returns the headers of the order.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Gives the run back to the queue, which hands it out again after a while. It must not be
    /// claimed.
    pub async fn give_back(self, after: Duration) -> Result<(), FleetError> {
        give_back(&self.fleet, &self.ack, after).await
    }

    /// Claims the run for a worker, under the terms of its order.
    pub async fn claim(self, worker: &str, terms: &Terms) -> Result<Claim, FleetError> {
        let mut unanswered: Option<Taking> = None;
        for _ in 0..TRIES {
            let seen = self
                .fleet
                .last_write(&self.fleet.names().runs(), &run_key(&self.run))
                .await?;
            let over = seen.as_ref().map_or(0, |write| write.revision);
            let entry = seen.as_ref().map(entry_of).transpose()?.flatten();
            if let Some(taking) = &unanswered
                && self.is_own_claim(worker, entry.as_ref())
            {
                let taking = taking.clone();
                return Ok(self.taken(worker, terms, &taking, over));
            }
            let taking = match self.decide(entry.as_ref(), terms).await? {
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
                // It may have been written all the same: the next look tells.
                Err(error) if error.is_passing() => unanswered = Some(taking),
                Err(error) => return Err(error),
            }
        }
        Ok(Claim::NotMine)
    }

    async fn decide(
        &self,
        entry: Option<&RunEntry>,
        terms: &Terms,
    ) -> Result<Decision, FleetError> {
        let stop = self.fleet.stop_wish(&self.run).await?;
        let is_caller_gone = match &terms.call {
            Some(call) => !self.fleet.has_caller(call).await?,
            None => false,
        };
        Ok(decide(&Facts {
            entry,
            n: self.n,
            retries: terms.retries,
            stop: stop.as_ref().map(|stop| stop.by.as_str()),
            is_caller_gone,
        }))
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

    /// Returns whether an entry is one that we wrote, with this delivery.
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

/// Takes a message out of the queue. It fails when the server has no leader at the moment; then the
/// message comes again, its run is found ended, and it is acknowledged then.
pub(crate) async fn acknowledge(fleet: &Fleet, ack: &str) {
    let answer = fleet.ask(ack, None, Bytes::from_static(b"+ACK")).await;
    if let Err(error) = answer {
        tracing::debug!("fleet: a message could not be acknowledged: {error}");
    }
}

/// Gives a message back to the queue.
pub(crate) async fn give_back(fleet: &Fleet, ack: &str, after: Duration) -> Result<(), FleetError> {
    let word = match after.as_nanos() {
        0 => "-NAK".to_owned(),
        nanoseconds => format!("-NAK {{\"delay\": {nanoseconds}}}"),
    };
    fleet.ask(ack, None, word.into()).await.map(drop)
}

fn entry_of(write: &LastWrite) -> Result<Option<RunEntry>, FleetError> {
    let Some(value) = &write.value else {
        return Ok(None);
    };
    crate::ask::parse(&write.key, value).map(Some)
}

/// Reads the number of a delivery from the subject that takes its acknowledgement. Older servers
/// name neither domain nor account before the stream.
fn delivery_number(ack: &str) -> Option<u64> {
    let tokens: Vec<&str> = ack.strip_prefix("$JS.ACK.")?.split('.').collect();
    let at = if tokens.len() >= 9 { 4 } else { 2 };
    tokens.get(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_delivery_stands_in_its_acknowledgement() {
        let numbers = [
            "$JS.ACK.PI_WORK.default-high.3.17.20.1700000000000000000.0",
            "$JS.ACK._.hash.PI_WORK.default-high.3.17.20.1700000000000000000.0",
            "$JS.ACK._.hash.PI_WORK.default-high.3.17.20.1700000000000000000.0.token",
            "$JS.ACK.PI_WORK",
            "_INBOX.a",
        ];
        let read = numbers.map(delivery_number);
        assert_eq!(read, [Some(3), Some(3), Some(3), None, None]);
    }
}
