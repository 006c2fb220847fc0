//! One run on this worker: from its delivery to the worker's decision about it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_fleet_queue::lease::Lease;
use pi_subagents_fleet_queue::wire::Order;
use pi_subagents_fleet_queue::{Begun, Claim, Delivery, Fleet, FleetError, GiveUp, Held, Terms};
use pi_subagents_vocabulary::{Ending, RunId, RunSummary};
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::options::WorkerOptions;
use super::order_resolution::{NotHere, resolve_order};
use super::preparation::Unready;
use super::worker_lines::{ended, lost, not_begun, print_line, took};
use super::{end, given_order, leftover_runs};
use pi_subagents_calls::Call as _;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::destination::Destination;
use pi_subagents_calls::families::delegation::DelegateCall;
use pi_subagents_calls::open_run::Opening;
use pi_subagents_calls::owner::Owner;
use pi_subagents_calls::resolve::Resolver;
use pi_subagents_ground::configuration::Configuration;

/// A worker, for all its runs.
pub(super) struct Worker {
    pub(super) fleet: Fleet,
    pub(super) owner: Arc<Owner>,
    pub(super) options: WorkerOptions,
    /// The lease of its runs.
    pub(super) lease: Lease,
    pub(super) caller: Caller,
    pub(super) configuration: Configuration,
    /// True if the remaining runs are given back now.
    pub(super) leaves: watch::Sender<bool>,
    /// The number of times that each delivery was taken here.
    pub(super) used: Mutex<HashMap<String, u32>>,
    /// The run of each delivery in our hands. A run may be among them twice.
    pub(super) served: Mutex<Vec<RunId>>,
}

impl Worker {
    /// Fulfils a delivery.
    pub(super) async fn serve(self: Arc<Self>, delivery: Delivery) {
        let run = delivery.run().clone();
        self.served().push(run.clone());
        if let Err(error) = Box::pin(self.take(delivery)).await {
            print_line(&format!("{run} could not be done now: {error}"));
        }
        let mut served = self.served();
        if let Some(at) = served.iter().position(|one| *one == run) {
            served.swap_remove(at);
        }
    }

    /// Returns whether another delivery of a run is in our hands beside this one.
    pub(super) fn serves_twice(&self, run: &RunId) -> bool {
        self.served().iter().filter(|one| *one == run).count() > 1
    }

    fn served(&self) -> MutexGuard<'_, Vec<RunId>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn take(self: &Arc<Self>, delivery: Delivery) -> Result<(), FleetError> {
        let order = given_order::read(&self.fleet, &delivery, &self.options.callers).await;
        let order = match order {
            Ok(order) => order,
            Err(message) => return self.refuse(delivery, message).await,
        };
        let terms = Terms {
            retries: order.retries,
            call: order.lease.clone(),
        };
        let Some(delivery) = self.others_first(delivery, &terms).await? else {
            return Ok(());
        };
        match delivery.claim(&self.options.name, &terms).await? {
            Claim::Mine(held) => Box::pin(self.hold(held, order)).await,
            Claim::GaveUp(why, held) => Self::give_up(held, &order, &why).await,
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
            print_line(&format!("refused {run}: {message}"));
            held.end(end::unbegun(&Ending::Refused { message })).await?;
        }
        Ok(())
    }

    /// Ends a run that was taken and not begun.
    pub(super) async fn end_unbegun(
        held: Held,
        order: &Order,
        ending: &Ending,
    ) -> Result<(), FleetError> {
        print_line(&ended(order, ending, &RunSummary::default()));
        held.end(end::unbegun(ending)).await.map(drop)
    }

    /// Returns why this machine cannot do an order, if it cannot.
    pub(super) async fn can_do(self: &Arc<Self>, order: &Order) -> Result<(), NotHere> {
        let (worker, order) = (Arc::clone(self), order.clone());
        let resolved = spawn_blocking(move || {
            let opening = worker.opening();
            resolve_order(&opening.resolver, &order).map(drop)
        });
        resolved.await.unwrap_or_else(|error| Err(panicked(&error)))
    }

    pub(super) fn opening(&self) -> Opening<'_> {
        let resolver = Resolver::new(
            DelegateCall::FAMILY,
            &self.caller,
            &self.configuration,
            &Destination::Here,
        );
        Opening::new(resolver, &self.owner.store, &self.owner.name, None)
    }

    async fn hold(self: &Arc<Self>, held: Held, order: Order) -> Result<(), FleetError> {
        print_line(&took(&order, held.attempt()));
        let prepared = match self.make_ready(&order, &held).await {
            Ok(prepared) => prepared,
            Err(Unready::NotHere(message)) => {
                return self.leave_or_refuse(held, &order, &message).await;
            }
            Err(Unready::Ends(ending)) => return Self::end_unbegun(held, &order, &ending).await,
        };
        if let Some(directory) = &prepared.planned.task.directory {
            leftover_runs::note(directory, &held);
        }
        match held.begin().await? {
            Begun::Begins => Box::pin(self.run(held, order, prepared)).await,
            Begun::GaveUp(why) => {
                prepared.undo().await;
                Self::give_up(held, &order, &why).await
            }
            Begun::Lost => {
                print_line(&lost(&order));
                Ok(())
            }
        }
    }

    /// Ends a run that was taken, and that nobody wants any more.
    async fn give_up(held: Held, order: &Order, why: &GiveUp) -> Result<(), FleetError> {
        print_line(&not_begun(order, why));
        held.end(end::unbegun(&end::given_up(why))).await.map(drop)
    }
}

pub(super) fn panicked(error: &dyn std::error::Error) -> NotHere {
    NotHere::Refused(format!("this is a bug in pi-subagents: {error}"))
}
