//! A call on its way to a fleet: connected, and with its files where workers find them. All of this
//! happens before a run is opened, so a fleet that cannot be used leaves no trace.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pi_subagents_configuration::FleetSettings;
use pi_subagents_fleet_queue::wire::{Conversation, Order, StickyConversation};
use pi_subagents_fleet_queue::{Fleet, FleetError, MissingPart, Patience};
use pi_subagents_vocabulary::{Refusal, RunId, Task};

use super::begin::begin_from;
use super::conversation::key_of;
use super::order::{FleetCall, order_of};
use super::sent_files::SentFiles;
use super::under_way::work;
use crate::runs::connection::{caller_of, connect, die_in_tests, unreachable};
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::destination::Destination;
use pi_subagents_calls::elsewhere::{Departure, Waiting};
use pi_subagents_calls::open_run::Ordered;
use pi_subagents_calls::opened_task::OpenedTask;
use pi_subagents_calls::owner::Owner;
use pi_subagents_calls::work::Work;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::random;

/// The time for which a call waits for servers that choose a leader.
const NO_LEADER: Duration = Duration::from_secs(20);

/// A call that is ready to leave.
pub(crate) struct FleetDeparture {
    pub(super) fleet: Fleet,
    pub(super) call: FleetCall,
    pub(super) files: SentFiles,
    pub(super) places: Places,
    /// The orders of the tasks that were taken along, until they are given.
    orders: Mutex<BTreeMap<RunId, Order>>,
}

impl FleetDeparture {
    /// Connects to the fleet of a call and sends the files of its project.
    pub(crate) async fn prepare(
        caller: &Caller,
        destination: Destination,
        waiting: Waiting,
    ) -> Result<Self, CommandError> {
        die_in_tests(&caller.places);
        let fleet = connect(&destination.fleet, &caller.places).await?;
        check_set_up(&fleet, &destination.pool).await?;
        let cwd = caller.working_directory();
        let files = Box::pin(SentFiles::send(
            &fleet,
            destination.workspace,
            &cwd,
            &destination.fleet,
        ))
        .await?;
        Ok(Self {
            fleet,
            call: FleetCall {
                id: random::new_run_id()?.to_string(),
                caller: caller_of(&caller.places),
                is_waited_for: waiting == Waiting::Somebody,
                destination,
            },
            files,
            places: caller.places.clone(),
            orders: Mutex::default(),
        })
    }

    /// Returns the settings of the fleet.
    pub(super) fn settings(&self) -> &FleetSettings {
        &self.call.destination.fleet
    }

    /// Returns the order of a task that was taken along.
    pub(super) fn order_of(&self, run: &RunId) -> Option<Order> {
        self.orders().remove(run)
    }

    fn orders(&self) -> MutexGuard<'_, BTreeMap<RunId, Order>> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the order of a task, or says what of it cannot travel.
    fn order(&self, ordered: Ordered<'_>, agent: Option<&str>) -> Result<Order, Refusal> {
        let task: &Task = ordered.task;
        let conversation = match agent {
            Some(agent) => Conversation::Sticky(StickyConversation {
                key: key_of(&self.places, &task.cwd, agent, &task.session),
                agent: agent.to_owned(),
            }),
            None => Conversation::Fresh,
        };
        let (workspace, relative_cwd) = self.files.of_task(&task.cwd)?;
        let workspace = begin_from(&ordered.work.place, workspace)?;
        let order = order_of(ordered, &self.call)?;
        Ok(Order {
            workspace,
            relative_cwd,
            conversation,
            ..order
        })
    }
}

impl Departure for FleetDeparture {
    fn name(&self) -> &str {
        &self.settings().prefix
    }

    fn warnings(&self) -> &[String] {
        &self.files.warnings
    }

    fn take(&self, ordered: Ordered<'_>, agent: Option<&str>) -> Result<(), Refusal> {
        let run = ordered.task.run.clone();
        let order = self.order(ordered, agent)?;
        self.orders().insert(run, order);
        Ok(())
    }

    fn work<'a>(self: Box<Self>, tasks: Vec<OpenedTask>, owner: &'a Owner) -> Work<'a> {
        work(*self, tasks, owner)
    }
}

/// Fails if the fleet has no queue for a pool.
async fn check_set_up(fleet: &Fleet, pool: &str) -> Result<(), CommandError> {
    let patience = Patience::of(NO_LEADER);
    let missing = loop {
        match fleet.missing(&[pool.to_owned()]).await {
            Ok(missing) => break missing,
            Err(error) => patience.after(error).await.map_err(unreachable)?,
        }
    };
    let Some(first) = missing.into_iter().next() else {
        return Ok(());
    };
    let words = match first {
        MissingPart::Consumer(_) => format!("the fleet has no pool {pool}"),
        MissingPart::Stream(_) => FleetError::NotSetUp { what: first }.to_string(),
    };
    Err(CommandError::failed(words).hint(format!(
        "pi-subagents fleet init --pool {pool} makes it; its administrator may do that."
    )))
}
