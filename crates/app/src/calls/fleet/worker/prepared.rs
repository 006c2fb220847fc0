//! A run on this machine before its child begins: its files, its conversation, its plan.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use pi_subagents_delegation::{Ending, PlannedTask, RunId};
use pi_subagents_fleet::Held;
use pi_subagents_fleet::wire::{Order, Workspace};
use tokio::task::spawn_blocking;

use super::bundled::BundledWorkspace;
use super::conversation::{HeldConversation, Unheld};
use super::one_run::{Worker, panicked};
use super::workplace::{Workplace, own_directory};
use crate::calls::resolve::NotHere;

/// A run that can begin.
pub(super) struct Prepared {
    pub(super) planned: PlannedTask,
    /// Its clone, if its files travelled as git objects.
    pub(super) clone: Option<BundledWorkspace>,
    /// The conversation that it continues, if the fleet keeps it.
    pub(super) conversation: Option<HeldConversation>,
    /// Its directory goes with this.
    _workplace: Workplace,
}

impl Worker {
    /// Makes everything ready that a run needs before its child begins, or says how it ends without
    /// one.
    pub(super) async fn make_ready(
        self: &Arc<Self>,
        order: &Order,
        held: &Held,
    ) -> Result<Prepared, Ending> {
        let conversation = HeldConversation::take(&self.fleet, order, held).await;
        let conversation = conversation.map_err(Unheld::into_ending)?;
        let file = conversation.as_ref().and_then(HeldConversation::file);
        let prepared = self.prepare_files(order, held.n(), file);
        match prepared.await {
            Ok(prepared) => Ok(Prepared {
                conversation,
                ..prepared
            }),
            Err(why) => {
                if let Some(conversation) = conversation {
                    conversation.give_back(None).await;
                }
                let (worker, message) = (&self.options.name, why.refusal().message);
                Err(Ending::Refused {
                    message: format!("worker {worker} could not begin: {message}"),
                })
            }
        }
    }

    /// Makes the clone of a run, its directory, its files and its plan.
    async fn prepare_files(
        self: &Arc<Self>,
        order: &Order,
        n: u64,
        session: Option<PathBuf>,
    ) -> Result<Prepared, NotHere> {
        let local = self.local_id(order, n)?;
        let clone = self.make_clone(order, &local).await?;
        let (worker, order) = (Arc::clone(self), order.clone());
        let prepare = move || worker.prepare(&order, &local, clone, session.as_deref());
        let prepared = spawn_blocking(prepare).await;
        prepared.unwrap_or_else(|error| Err(panicked(&error)))
    }

    /// Gives a run its directory, its files and its plan on this machine.
    fn prepare(
        &self,
        order: &Order,
        local: &RunId,
        clone: Option<BundledWorkspace>,
        session: Option<&Path>,
    ) -> Result<Prepared, NotHere> {
        let workplace = Workplace::prepare(&self.options.root, order, local);
        let workplace = workplace.map_err(NotHere::Refused)?;
        let opening = self.opening();
        let work = opening.resolver.resolve_order(order)?;
        let order = Order {
            run: local.to_string(),
            ..order.clone()
        };
        let planned = opening
            .open_order(&order, workplace.cwd.clone(), work, session)
            .map_err(|error| NotHere::Refused(error.sentence()))?;
        Ok(Prepared {
            planned,
            clone,
            conversation: None,
            _workplace: workplace,
        })
    }

    /// Makes the clone of an order whose files are a repository.
    async fn make_clone(
        &self,
        order: &Order,
        local: &RunId,
    ) -> Result<Option<BundledWorkspace>, NotHere> {
        let root = &self.options.root;
        let path = own_directory(root, order, local);
        let made = match &order.workspace {
            Workspace::None | Workspace::Shared(_) => return Ok(None),
            Workspace::Clone(cloned) => BundledWorkspace::fetch(root, cloned, path).await,
            Workspace::Bundle(bundle) => {
                BundledWorkspace::make(&self.fleet, root, bundle, path).await
            }
        };
        made.map(Some).map_err(NotHere::Refused)
    }

    /// Returns the id of a delivery on this machine. Each delivery has one of its own, so two
    /// workers on one machine do not meet. A server that lost its disk counts deliveries from one
    /// again, and the record of the earlier one may still be here.
    fn local_id(&self, order: &Order, n: u64) -> Result<RunId, NotHere> {
        let mut local = format!("{}-{n}", order.run);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let times = used.entry(local.clone()).or_default();
        *times += 1;
        if *times > 1 {
            local = format!("{local}-{times}");
        }
        RunId::parse(&local).map_err(|error| NotHere::Refused(error.to_string()))
    }
}
