//! Runs that this machine cannot do: a model or a key is missing, or its disk is full. Other workers
//! get them; once every worker of the pool has tried, the caller hears why.

use std::collections::BTreeMap;
use std::time::Duration;

use pi_subagents_fleet_queue::wire::{LeftBy, Order};
use pi_subagents_fleet_queue::{Delivery, FleetError, Held, Terms};
use pi_subagents_vocabulary::text::{cut_characters, one_line};
use pi_subagents_vocabulary::{Ending, RunId};
use tokio::time::sleep;
use tracing::debug;

use super::holder_sign::{HolderSign, Step, Watch};
use super::one_run::Worker;
use super::worker_lines::print_line;

/// The time for which a run that this machine cannot do is left to others.
const TO_OTHERS: Duration = Duration::from_secs(5);

/// The pause between two looks at the card of another worker.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

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
            && self.is_kept(holder, delivery.run()).await
        {
            debug!(run = %delivery.run(), holder, "run stays with the worker that has it");
            return delivery.give_back(TO_OTHERS).await.map(|()| None);
        }
        Ok(Some(delivery))
    }

    /// Returns whether the worker from which a run would be taken still has it: it is at work, or it has
    /// done the work and could not write the end. The queue hands out such a run when the signs of that
    /// worker were late, because the servers were away or its machine is busy.
    async fn is_kept(&self, holder: &str, run: &RunId) -> bool {
        if holder == self.options.name {
            // Another delivery of it is in our own hands, or was in those of a process that is gone.
            return self.serves_twice(run);
        }
        let mut watch = Watch::default();
        loop {
            let sign = self.sign_of(holder, run).await;
            let were_away = self.fleet.connected_for() < self.lease.to_return();
            match watch.after(sign, were_away) {
                Step::Leave => return true,
                Step::Take => return false,
                Step::LookAgain if *self.leaves.borrow() => return true,
                Step::LookAgain => sleep(LOOK_AGAIN).await,
            }
        }
    }

    /// Looks at the card of a worker for a sign of a run. Everybody may read the cards; the requests of
    /// a run are for callers.
    async fn sign_of(&self, holder: &str, run: &RunId) -> HolderSign {
        match self.fleet.card_of_worker(holder).await {
            Ok(Some(card)) if card.value.runs.iter().any(|one| one == run.as_str()) => {
                HolderSign::HasRun
            }
            Ok(Some(_)) => HolderSign::LetGo,
            Ok(None) => HolderSign::NoCard,
            Err(error) if error.is_passing() => HolderSign::Unknown,
            Err(error) => {
                debug!(%error, holder, "card of a worker cannot be read");
                HolderSign::NoCard
            }
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
