//! The present workers with their cards, and the callers who wait.

use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::connect::Fleet;
use crate::error::FleetError;
use crate::kept_key::KeptKey;
use crate::missed_callers::LeaseSight;
use crate::names::check_name;
use crate::runs::json;
use crate::store::{LastWrite, Stored, Written};
use crate::wire::{CallerCard, WorkerCard};

/// A worker's presence; others no longer see it a while after this was dropped.
#[derive(Debug)]
pub struct Presence {
    fleet: Fleet,
    worker: String,
    instance: String,
    key: KeptKey,
}

/// The answer to a worker that wants to be present under a name.
#[derive(Debug)]
pub enum Arrival {
    /// It is present now.
    Present(Presence),
    /// The card of another worker is there under this name. A worker that was killed leaves its card
    /// behind for a while; a worker that is there renews it, so the revision grows.
    NameTaken(Box<Stored<WorkerCard>>),
}

impl Presence {
    /// Publishes a changed card.
    pub fn publish(&self, card: &WorkerCard) {
        self.key.change(json(card));
    }

    /// Leaves, so that others see it at once. A card that another worker has written under the same
    /// name, while this one was cut off, stays.
    pub async fn leave(self) -> Result<(), FleetError> {
        match self.fleet.card_of_worker(&self.worker).await? {
            Some(card) if card.value.instance != self.instance => Ok(()),
            Some(_) | None => self.key.end().await,
        }
    }
}

/// A caller's lease: the word that somebody waits for the runs of a call. It is gone a while after
/// this was dropped, or its process died.
#[derive(Debug)]
pub struct CallerLease(KeptKey);

impl CallerLease {
    /// Ends the lease now: the caller does not wait any more.
    pub async fn end(self) -> Result<(), FleetError> {
        self.0.end().await
    }
}

impl Fleet {
    /// Makes a worker present, for this time after its last sign, unless another worker has its
    /// name.
    pub async fn be_present(
        &self,
        worker: &str,
        card: &WorkerCard,
        time: Duration,
    ) -> Result<Arrival, FleetError> {
        check_name("worker", worker)?;
        let bucket = self.names().workers();
        loop {
            let last = self.last_write(&bucket, worker).await?;
            let over = last.as_ref().map_or(0, |last| last.revision);
            let there: Option<WorkerCard> = last.and_then(|last| read_card(&last.value?));
            if let Some(value) = there.filter(|there| there.instance != card.instance) {
                let revision = over;
                return Ok(Arrival::NameTaken(Box::new(Stored { value, revision })));
            }
            let (value, bucket) = (json(card), bucket.clone());
            let claimed = self.claim_for(&bucket, worker, value.clone(), over, time);
            if let Written::At(_) = claimed.await? {
                return Ok(Arrival::Present(Presence {
                    fleet: self.clone(),
                    worker: worker.to_owned(),
                    instance: card.instance.clone(),
                    key: KeptKey::keep(self, bucket, worker, value, time),
                }));
            }
            // Somebody wrote in between, who may be another worker of this name.
        }
    }

    /// Returns the card of a worker, if it is there.
    pub async fn card_of_worker(
        &self,
        worker: &str,
    ) -> Result<Option<Stored<WorkerCard>>, FleetError> {
        self.read(&self.names().workers(), worker).await
    }

    /// Returns the workers that are there, by their names.
    pub async fn workers(&self) -> Result<Vec<(String, WorkerCard)>, FleetError> {
        let bucket = self.names().workers();
        let writes = self.list(&bucket).await?.into_iter();
        let mut workers: Vec<(String, WorkerCard)> = writes
            .filter_map(|write| Some((write.key, read_card(&write.value?)?)))
            .collect();
        workers.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(workers)
    }

    /// Begins the lease of a caller who waits for the runs of a call, for this time after the last
    /// sign.
    pub async fn caller_lease(
        &self,
        call: &str,
        card: &CallerCard,
        time: Duration,
    ) -> Result<CallerLease, FleetError> {
        let bucket = self.names().leases();
        KeptKey::begin(self, bucket, call, json(card), time)
            .await
            .map(CallerLease)
    }

    /// Returns whether somebody waits for the runs of a call.
    pub async fn has_caller(&self, call: &str) -> Result<bool, FleetError> {
        let write = self.last_write(&self.names().leases(), call).await?;
        Ok(write.is_some_and(|write| write.value.is_some()))
    }

    /// Returns whether nobody waits for the runs of a call any more: its caller has ended the lease, or
    /// the lease has been gone for so long that every caller who lives would have renewed it.
    pub(crate) async fn is_caller_gone(&self, call: &str) -> Result<bool, FleetError> {
        let bucket = self.names().leases();
        let looked = self.last_write(&bucket, call).await;
        let sight = match looked {
            Ok(Some(LastWrite { value: Some(_), .. })) => LeaseSight::Kept,
            Ok(Some(LastWrite {
                was_removed: true, ..
            })) => LeaseSight::Ended,
            // A server that lags behind, or servers without a leader, let nobody renew a lease.
            Ok(_) if self.has_leader(&bucket.stream()).await => LeaseSight::Expired,
            Ok(_) | Err(_) => LeaseSight::Unknown,
        };
        let is_gone = self
            .inner
            .missed_callers
            .is_gone(call, sight, Instant::now());
        looked.map(|_| is_gone)
    }
}

fn read_card<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}
