//! One run on this worker: from its delivery to the worker's decision about it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pi_subagents_delegation::{Ending, RunSummary};
use pi_subagents_fleet::wire::Order;
use pi_subagents_fleet::{Claim, Delivery, Fleet, FleetError, Held, Kept, Terms};
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::options::WorkerOptions;
use super::told::{ended, lost, not_begun, tell, took};
use super::{end, given_order, left_over};
use crate::calls::Call as _;
use crate::calls::caller::Caller;
use crate::calls::families::delegation::DelegateCall;
use crate::calls::open_run::Opening;
use crate::calls::owner::Owner;
use crate::calls::resolve::NotHere;
use crate::configuration::Configuration;

/// The time for which a run that this machine cannot do is left to others.
const TO_OTHERS: Duration = Duration::from_secs(5);

/// The number of deliveries after which a run that nobody can do is refused.
const REFUSED_AT: u64 = 3;

/// A worker, for all its runs.
pub(super) struct Worker {
    pub(super) fleet: Fleet,
    pub(super) owner: Arc<Owner>,
    pub(super) options: WorkerOptions,
    pub(super) caller: Caller,
    pub(super) configuration: Configuration,
    /// True if the remaining runs are given back now.
    pub(super) leaves: watch::Sender<bool>,
    /// The number of times that each delivery was taken here.
    pub(super) used: Mutex<HashMap<String, u32>>,
}

impl Worker {
    /// Fulfils a delivery.
    pub(super) async fn serve(self: Arc<Self>, delivery: Delivery) {
        let run = delivery.run().clone();
        if let Err(error) = self.take(delivery).await {
            tell(&format!("{run} could not be done now: {error}"));
        }
    }

    async fn take(self: &Arc<Self>, delivery: Delivery) -> Result<(), FleetError> {
        let order = given_order::read(&self.fleet, &delivery, &self.options.callers).await;
        let order = match order {
            Ok(order) => order,
            Err(message) => return self.refuse(delivery, message).await,
        };
        if let Err(why) = self.can_do(&order).await {
            let message = match why {
                NotHere::Missing(message) if delivery.n() < REFUSED_AT => {
                    tell(&format!("left {} to others: {message}", order.run));
                    return delivery.give_back(TO_OTHERS).await;
                }
                NotHere::Missing(message) => format!(
                    "no worker of pool {} could do it; worker {} says: {message}",
                    delivery.pool(),
                    self.options.name
                ),
                NotHere::Refused(message) => message,
            };
            return self.refuse(delivery, message).await;
        }
        let terms = Terms {
            retries: order.retries,
            call: order.lease.clone(),
        };
        match delivery.claim(&self.options.name, &terms).await? {
            Claim::Mine(held) => self.hold(held, order).await,
            Claim::GaveUp(why, held) => {
                tell(&not_begun(&order, &why));
                held.end(end::unbegun(&end::given_up(&why))).await.map(drop)
            }
            Claim::Ended | Claim::NotMine => Ok(()),
        }
    }

    /// Ends a run that cannot be done, with the reason.
    async fn refuse(&self, delivery: Delivery, message: String) -> Result<(), FleetError> {
        let run = delivery.run().clone();
        let claim = delivery
            .claim(&self.options.name, &Terms::default())
            .await?;
        if let Claim::Mine(held) | Claim::GaveUp(_, held) = claim {
            tell(&format!("refused {run}: {message}"));
            held.end(end::unbegun(&Ending::Refused { message })).await?;
        }
        Ok(())
    }

    /// Returns why this machine cannot do an order, if it cannot.
    async fn can_do(self: &Arc<Self>, order: &Order) -> Result<(), NotHere> {
        let (worker, order) = (Arc::clone(self), order.clone());
        let resolved = spawn_blocking(move || {
            let opening = worker.opening();
            opening.resolver.resolve_order(&order).map(drop)
        });
        resolved.await.unwrap_or_else(|error| Err(panicked(&error)))
    }

    pub(super) fn opening(&self) -> Opening<'_> {
        let asked_by = (&self.caller, &self.configuration);
        Opening::new(DelegateCall::FAMILY, asked_by, &self.owner)
    }

    async fn hold(self: &Arc<Self>, held: Held, order: Order) -> Result<(), FleetError> {
        tell(&took(&order, held.attempt()));
        let prepared = match self.make_ready(&order, &held).await {
            Ok(prepared) => prepared,
            Err(ending) => {
                tell(&ended(&order, &ending, &RunSummary::default()));
                return held.end(end::unbegun(&ending)).await.map(drop);
            }
        };
        if let Some(directory) = &prepared.planned.task.directory {
            left_over::note(directory, &held);
        }
        if held.begin().await? == Kept::Fenced {
            tell(&lost(&order));
            return Ok(());
        }
        self.run(held, order, prepared).await
    }
}

pub(super) fn panicked(error: &dyn std::error::Error) -> NotHere {
    NotHere::Refused(format!("this is a bug in pi-subagents: {error}"))
}
