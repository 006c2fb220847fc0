//! Runs that this machine cannot do: a model or a key is missing, or its disk is full. Other workers
//! get them; once every worker of the pool has tried, the caller hears why.

use std::collections::BTreeMap;
use std::time::Duration;

use pi_subagents_engine::OwnerReply;
use pi_subagents_fleet_queue::wire::{LeftBy, Order};
use pi_subagents_fleet_queue::{Delivery, FleetError, Held, Terms};
use pi_subagents_vocabulary::text::{cut_characters, one_line};
use pi_subagents_vocabulary::{Ending, RunId};
use tokio::time::{Instant, sleep};
use tracing::debug;

use super::one_run::Worker;
use super::worker_lines::print_line;
use crate::runs::{WorkerReply, WorkerWant, ask_worker_within};

/// The time for which a run that this machine cannot do is left to others.
const TO_OTHERS: Duration = Duration::from_secs(5);

/// The time that a worker may take to answer whether it has done a run.
const TO_ANSWER: Duration = Duration::from_secs(2);

/// The pause before it is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// The number of characters of a reason that others read.
const LONGEST_REASON: usize = 1000;

impl Worker {
    /// Leaves a run that this worker has tried once more to the workers that have not; `None` if it
    /// did. Without such workers this one tries again.
    pub(super) async fn others_first(
        &self,
        delivery: Delivery,
        terms: &Terms,
    ) -> Result<Option<Delivery>, FleetError> {
        let earlier = delivery.earlier(terms).await?;
        let has_tried = earlier.left_by.contains_key(&self.options.name);
        if has_tried && self.has_others(delivery.pool(), &earlier.left_by).await {
            debug!(run = %delivery.run(), "run waits for a worker that has not tried it");
            return delivery.give_back(TO_OTHERS).await.map(|()| None);
        }
        if let Some(holder) = &earlier.holder
            && self.has_done(holder, delivery.run()).await
        {
            debug!(run = %delivery.run(), holder, "run waits for the worker that has done it");
            return delivery.give_back(TO_OTHERS).await.map(|()| None);
        }
        Ok(Some(delivery))
    }

    /// Returns whether the worker from which a run would be taken has done its work, and could only
    /// not write the end of it because the servers were away. If they were away until now, that
    /// worker gets a moment to come back.
    async fn has_done(&self, holder: &str, run: &RunId) -> bool {
        let end = Instant::now() + self.lease.beat();
        loop {
            let asked = ask_worker_within(&self.fleet, run, WorkerWant::Done, TO_ANSWER).await;
            match asked {
                WorkerReply::Replied(OwnerReply::Done) => return true,
                WorkerReply::NobodyThere => {}
                WorkerReply::Replied(_) | WorkerReply::Silent | WorkerReply::NotAllowed(_) => {
                    return false;
                }
            }
            let were_away = self.fleet.connected_for() < self.lease.length;
            if holder == self.options.name || !were_away || Instant::now() >= end {
                return false;
            }
            sleep(ASK_AGAIN).await;
        }
    }

    /// Leaves a run that this machine cannot do to others, or ends it with the reason if every worker
    /// of its pool has tried it.
    pub(super) async fn leave_or_refuse(
        &self,
        held: Held,
        order: &Order,
        why: &str,
    ) -> Result<(), FleetError> {
        let why = &cut_characters(&one_line(why), LONGEST_REASON);
        if self.has_others(held.pool(), held.left_by()).await {
            print_line(&format!("left {} to others: {why}", order.run));
            return held.leave_to_others(why, TO_OTHERS).await.map(drop);
        }
        let mut reasons = held.left_by().clone();
        reasons.insert(self.options.name.clone(), why.to_owned());
        let message = format!(
            "no worker of pool {} could do it; {}",
            held.pool(),
            worded(&reasons)
        );
        Self::end_unbegun(held, order, &Ending::Refused { message }).await
    }

    /// Returns whether a worker of the pool is there that has not tried a run yet. One that is busy
    /// counts: the run waits for it as it would without this worker.
    async fn has_others(&self, pool: &str, left_by: &LeftBy) -> bool {
        let workers = match self.fleet.workers().await {
            Ok(workers) => workers,
            Err(error) => {
                debug!(%error, "other workers cannot be listed");
                // The next delivery asks again.
                return error.is_passing();
            }
        };
        workers.iter().any(|(name, card)| {
            let is_of_pool = card.pools.iter().any(|one| one == pool);
            let has_tried = *name == self.options.name || left_by.contains_key(name);
            is_of_pool && !card.draining && !has_tried
        })
    }
}

/// Words the reasons of workers; workers with the same reason are named together.
fn worded(reasons: &LeftBy) -> String {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (worker, why) in reasons {
        by_reason.entry(why).or_default().push(worker);
    }
    let said = by_reason.iter().map(|(why, workers)| match workers[..] {
        [worker] => format!("worker {worker} says: {why}"),
        _ => format!("workers {} say: {why}", workers.join(", ")),
    });
    said.collect::<Vec<_>>().join("; ")
}
