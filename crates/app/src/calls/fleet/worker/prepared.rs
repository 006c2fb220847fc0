//! A run on this machine before its child begins: its files, its conversation, its plan.

use std::path::Path;
use std::sync::Arc;

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
        let prepared = match self.make_clone(order, held.n()).await {
            Ok(clone) => {
                let (worker, ordered, n) = (Arc::clone(self), order.clone(), held.n());
                let ready =
                    spawn_blocking(move || worker.prepare(&ordered, n, clone, file.as_deref()))
                        .await;
                ready.unwrap_or_else(|error| Err(panicked(&error)))
            }
            Err(why) => Err(why),
        };
        match prepared {
            Ok(prepared) => Ok(Prepared {
                conversation,
                ..prepared
            }),
            Err(why) => {
                if let Some(conversation) = conversation {
                    conversation.give_back(None).await;
                }
                Err(Ending::Refused {
                    message: why.refusal().message,
                })
            }
        }
    }

    /// Gives a run its directory, its files and its plan on this machine. Each delivery has a run id
    /// of its own here, so two workers on one machine do not meet.
    fn prepare(
        &self,
        order: &Order,
        n: u64,
        clone: Option<BundledWorkspace>,
        session: Option<&Path>,
    ) -> Result<Prepared, NotHere> {
        let (local, id) = local_id(order, n)?;
        let workplace = Workplace::prepare(&self.options.root, order, &id);
        let workplace = workplace.map_err(NotHere::Refused)?;
        let opening = self.opening();
        let work = opening.resolver.resolve_order(order)?;
        let order = Order {
            run: local,
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
    async fn make_clone(&self, order: &Order, n: u64) -> Result<Option<BundledWorkspace>, NotHere> {
        let root = &self.options.root;
        let path = own_directory(root, order, &local_id(order, n)?.1);
        let made = match &order.workspace {
            Workspace::None | Workspace::Shared(_) => return Ok(None),
            Workspace::Clone(cloned) => BundledWorkspace::fetch(root, cloned, path).await,
            Workspace::Bundle(bundle) => {
                BundledWorkspace::make(&self.fleet, root, bundle, path).await
            }
        };
        made.map(Some).map_err(NotHere::Refused)
    }
}

/// Returns the id of a delivery on this machine, as text and as an id.
fn local_id(order: &Order, n: u64) -> Result<(String, RunId), NotHere> {
    let local = format!("{}-{n}", order.run);
    let id = RunId::parse(&local).map_err(|error| NotHere::Refused(error.to_string()))?;
    Ok((local, id))
}
