//! A call on its way to a fleet: connected, and with its files where workers find them. All of this
//! happens after its tasks were resolved and before a run is opened, so a call that is refused sends
//! nothing, and a fleet that cannot be used leaves no trace.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pi_subagents_configuration::FleetSettings;
use pi_subagents_fleet_queue::wire::{Conversation, Order, StickyConversation};
use pi_subagents_fleet_queue::{Fleet, FleetError, MissingPart, Patience};
use pi_subagents_vocabulary::{BudgetScope, Refusal, Task};

use super::begin::begin_from;
use super::conversation::key_of;
use super::order::{FleetCall, OrderedFiles, order_of};
use super::running_call::work;
use super::sent_files::SentFiles;
use crate::runs::connection::{caller_of, connect, die_in_tests, unreachable};
use pi_subagents_calls::destination::FleetDestination;
use pi_subagents_calls::elsewhere::{Departure, Waiting};
use pi_subagents_calls::opened_task::OpenedTask;
use pi_subagents_calls::owner::Owner;
use pi_subagents_calls::resolve::ResolvedWork;
use pi_subagents_calls::work::CallWork;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::random;

/// The time for which a call waits for servers that choose a leader.
const NO_LEADER: Duration = Duration::from_secs(20);

/// A call that is ready to leave.
pub(crate) struct FleetDeparture {
    pub(super) fleet: Fleet,
    pub(super) call: FleetCall,
    /// The files of the directories that its tasks use.
    files: Vec<SentFiles>,
    /// The directories whose files could not be sent, with the reasons.
    unsent: Vec<(PathBuf, String)>,
    pub(super) places: Places,
    /// The tasks that were taken along, with their orders.
    taken: Mutex<Vec<TakenTask>>,
}

/// A task that leaves for the fleet.
pub(super) struct TakenTask {
    pub(super) task: Arc<Task>,
    pub(super) order: Order,
    /// The budgets in which its run counts.
    pub(super) budgets: Vec<BudgetScope>,
}

impl FleetDeparture {
    /// Connects to the fleet of a call and sends the files of the directories that its tasks use.
    /// Fails if none of them can be sent; a task whose directory alone cannot be sent is refused
    /// later.
    pub(crate) async fn prepare(
        places: &Places,
        destination: &FleetDestination,
        directories: &[PathBuf],
        waiting: Waiting,
    ) -> Result<Self, CommandError> {
        die_in_tests(places);
        let fleet = connect(&destination.fleet, places).await?;
        check_set_up(&fleet, &destination.pool).await?;
        let mut departure = Self {
            fleet,
            call: FleetCall {
                id: random::new_run_id()?.to_string(),
                caller: caller_of(places),
                waiting,
                destination: destination.clone(),
            },
            files: Vec::new(),
            unsent: Vec::new(),
            places: places.clone(),
            taken: Mutex::default(),
        };
        for directory in directories {
            departure.send_files(directory).await?;
        }
        Ok(departure)
    }

    /// Sends the files of a directory, unless they were sent with another one.
    async fn send_files(&mut self, directory: &Path) -> Result<(), CommandError> {
        let is_known = self.unsent.iter().any(|(known, _)| known == directory);
        if is_known || self.files_of(directory).is_some() {
            return Ok(());
        }
        let choice = self.call.destination.workspace;
        let sent = Box::pin(SentFiles::send(
            &self.fleet,
            choice,
            directory,
            self.settings(),
        ));
        match sent.await {
            Ok(files) => self.files.push(files),
            Err(error) if self.files.is_empty() => return Err(error),
            Err(error) => self.unsent.push((directory.to_owned(), error.sentence())),
        }
        Ok(())
    }

    /// Returns the files that a task in this directory finds on its worker.
    pub(super) fn files_of(&self, cwd: &Path) -> Option<&SentFiles> {
        self.files.iter().find(|files| files.has(cwd))
    }

    /// Returns the settings of the fleet.
    pub(super) fn settings(&self) -> &FleetSettings {
        &self.call.destination.fleet
    }

    /// Returns the tasks that were taken along; from here on the caller has them.
    pub(super) fn take_all(&self) -> Vec<TakenTask> {
        std::mem::take(&mut self.taken())
    }

    fn taken(&self) -> MutexGuard<'_, Vec<TakenTask>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the order of a task, or says what of it cannot travel.
    fn order(
        &self,
        task: &Task,
        resolved: ResolvedWork,
        agent: Option<&str>,
    ) -> Result<Order, Refusal> {
        let conversation = match agent {
            Some(agent) => Conversation::Sticky(StickyConversation {
                key: key_of(&self.places, &task.cwd, agent, &task.session),
                agent: agent.to_owned(),
            }),
            None => Conversation::Fresh,
        };
        let files = self
            .files_of(&task.cwd)
            .ok_or_else(|| self.why_unsent(&task.cwd))?;
        let (workspace, relative_cwd) = files.of_task(&task.cwd)?;
        let workspace = begin_from(&resolved.here.place, workspace)?;
        let files = OrderedFiles {
            workspace,
            relative_cwd,
            conversation,
        };
        order_of(task, resolved, files, &self.call)
    }
}

impl Departure for FleetDeparture {
    fn name(&self) -> &str {
        &self.settings().prefix
    }

    fn warnings(&self) -> Vec<String> {
        let warnings = self.files.iter().flat_map(|files| &files.warnings);
        warnings.cloned().collect()
    }

    fn take(
        &self,
        task: &Arc<Task>,
        resolved: ResolvedWork,
        agent: Option<&str>,
    ) -> Result<(), Refusal> {
        let budgets = resolved.here.budgets.scopes.clone();
        let order = self.order(task, resolved, agent)?;
        let task = Arc::clone(task);
        self.taken().push(TakenTask {
            task,
            order,
            budgets,
        });
        Ok(())
    }

    fn work(self: Box<Self>, tasks: Vec<OpenedTask>, owner: &Owner) -> CallWork<'_> {
        work(*self, tasks, owner)
    }
}

impl FleetDeparture {
    fn why_unsent(&self, cwd: &Path) -> Refusal {
        let why = self.unsent.iter().find(|(known, _)| known == cwd);
        let why = why.map_or("its files were not sent", |(_, why)| why);
        Refusal {
            message: format!("{} cannot be sent: {why}", cwd.display()),
        }
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
