//! A run on this machine before its child begins: its files, its conversation, its plan.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use pi_subagents_fleet_queue::Held;
use pi_subagents_fleet_queue::wire::{Order, OrderDefinition, OrderSkill, SentWorkspace};
use pi_subagents_os::free_space;
use pi_subagents_vocabulary::{Ending, ModelChoice, PlannedTask, RunId, SessionId, UsedDefinition};
use tokio::task::spawn_blocking;

use super::bundle_workspace::BundledWorkspace;
use super::conversation::HeldConversation;
use super::copy_out::remove_record;
use super::ground::{ARRIVING, CACHES, UNSENT, WORKSPACES};
use super::one_run::{Worker, panicked};
use super::order_resolution::{NotHere, resolve_order};
use super::unsent_changes;
use super::workplace::{Workplace, own_directory};
use pi_subagents_calls::open_run::{TakenSkill, TakenTask};

/// A run that can begin.
pub(super) struct Prepared {
    pub(super) planned: PlannedTask,
    /// Its clone, if its files travelled as git objects.
    pub(super) clone: Option<BundledWorkspace>,
    /// The conversation that it continues, if the fleet keeps it.
    pub(super) conversation: Option<HeldConversation>,
    /// Its directory goes with this.
    pub(super) workplace: Workplace,
}

/// Why a run cannot begin here.
pub(super) enum Unready {
    /// It may begin on another machine.
    NotHere(String),
    /// It ends so, wherever it is.
    Ends(Ending),
}

impl Prepared {
    /// Gives back and removes what was made ready for a child that is not started.
    pub(super) async fn undo(self) {
        if let Some(conversation) = self.conversation {
            conversation.give_back(None).await;
        }
        if let Some(directory) = &self.planned.task.directory {
            remove_record(directory);
        }
    }
}

impl Worker {
    /// Makes everything ready that a run needs before its child begins, or says why it cannot.
    pub(super) async fn make_ready(
        self: &Arc<Self>,
        order: &Order,
        held: &Held,
    ) -> Result<Prepared, Unready> {
        // It is asked before anything is fetched.
        self.can_do(order).await.map_err(|why| self.unready(why))?;
        let conversation =
            HeldConversation::take(&self.fleet, order, held, &self.options.root).await;
        let conversation = conversation.map_err(|why| Unready::Ends(why.into_ending()))?;
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
                Err(self.unready(why))
            }
        }
    }

    fn unready(&self, why: NotHere) -> Unready {
        match why {
            NotHere::Missing(message) => {
                // A disk whose room cannot be told has some.
                let free = free_space(&self.options.root).unwrap_or(u64::MAX);
                Unready::NotHere(with_room(message, free))
            }
            NotHere::Refused(message) => {
                let worker = &self.options.name;
                Unready::Ends(Ending::Refused {
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
        let clone = self.make_clone(order, n, &local).await?;
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
        let workplace = workplace?;
        let opening = self.opening();
        let work = resolve_order(&opening.resolver, order)?;
        let planned = opening.open_taken(TakenTask {
            run: local.clone(),
            session: session_of(order)?,
            name: order.name.clone(),
            asked: order.asked.clone(),
            definition: order.definition.as_ref().map(used),
            skills: order.skills.iter().map(skill).collect(),
            cwd: workplace.cwd.clone(),
            work,
            session_so_far: session,
            others: [WORKSPACES, UNSENT, CACHES, ARRIVING]
                .map(|name| self.options.root.join(name))
                .into(),
        });
        // It could not write the files of the run.
        let planned = planned.map_err(|error| NotHere::Missing(error.sentence()))?;
        Ok(Prepared {
            planned,
            clone,
            conversation: None,
            workplace,
        })
    }

    /// Makes the clone of an order whose files are a repository.
    async fn make_clone(
        &self,
        order: &Order,
        n: u64,
        local: &RunId,
    ) -> Result<Option<BundledWorkspace>, NotHere> {
        let root = &self.options.root;
        let path = own_directory(root, order, local);
        let made = match &order.workspace {
            SentWorkspace::None | SentWorkspace::Shared(_) => return Ok(None),
            SentWorkspace::Clone(cloned) => BundledWorkspace::fetch(root, cloned, path).await,
            SentWorkspace::Bundle(bundle) => {
                BundledWorkspace::make(&self.fleet, root, bundle, path).await
            }
        };
        let made = made?;
        let run = RunId::parse(&order.run);
        let run = run.map_err(|error| NotHere::Refused(error.to_string()))?;
        unsent_changes::note(&made, &run, n)?;
        Ok(Some(made))
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

/// The room on a disk below which the want of room is named as a reason.
const LITTLE_ROOM: u64 = 1 << 20;

/// Adds to a reason that the disk is full: git and others often do not say it.
fn with_room(message: String, free: u64) -> String {
    if free < LITTLE_ROOM {
        format!("{message} (no space left on the disk of the worker)")
    } else {
        message
    }
}

fn session_of(order: &Order) -> Result<SessionId, NotHere> {
    SessionId::parse(&order.session)
        .map_err(|error| NotHere::Refused(format!("the order has no usable session: {error}")))
}

fn used(definition: &OrderDefinition) -> UsedDefinition {
    UsedDefinition {
        name: definition.name.clone(),
        summary: definition.summary.clone(),
        model: ModelChoice::Inherit,
        file: None,
    }
}

fn skill(skill: &OrderSkill) -> TakenSkill<'_> {
    TakenSkill {
        name: &skill.name,
        text: &skill.text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_where_others_only_name_a_file() {
        let said = || "git init failed: failed to write config.lock".to_owned();
        let full = "git init failed: failed to write config.lock (no space left on the disk of the worker)";
        assert_eq!(with_room(said(), 4096), full);
        assert_eq!(with_room(said(), 1 << 30), said());
    }
}
