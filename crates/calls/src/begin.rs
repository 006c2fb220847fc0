//! The beginning of a call, the same at every door: its tasks are resolved, refused calls end here,
//! the way to a fleet is prepared, and only then the runs are opened. A call that fails before that
//! has made, sent and recorded nothing.

use std::sync::{Arc, PoisonError};

use pi_subagents_records::{Ledgers, OwnerName};
use tokio::task::spawn_blocking;
use tracing::info;

use crate::arguments;
use crate::budget::CallBudgets;
use crate::call::{Call, Opened, OpenedRun, ReadyCall, ResolvedCall};
use crate::caller::Caller;
use crate::destination::Destination;
use crate::detached_process::{Place, check_limit};
use crate::elsewhere::{Departure, Waiting, depart};
use crate::open_run::Opening;
use crate::resolve::{ResolvedTask, Resolver};
use crate::service::CallService;
use crate::unbegun_runs::UnbegunRuns;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::known_index::KnownIndex;

/// A call's caller, with the configuration that was read for the call.
pub struct PreparedCaller {
    pub caller: Caller,
    pub configuration: Arc<Configuration>,
    pub waiting: Waiting,
}

/// The values with which the runs of a call are opened.
struct Ground {
    asking: PreparedCaller,
    destination: Destination,
    index: Arc<KnownIndex>,
    owner: OwnerName,
    ledgers: Arc<Ledgers>,
}

/// Begins a call: resolves its tasks, prepares its way, and opens its runs. Blocking work is done
/// on threads of its own, and no lock is held while the network is waited for.
///
/// If the future is dropped before it is done, or one of the runs cannot be opened, runs that were
/// opened meanwhile never begin: they end as stopped.
pub async fn begin<C: Call>(
    service: &CallService,
    call: C,
    asking: PreparedCaller,
) -> Result<ReadyCall<C>, CommandError> {
    let destination = Destination::of_call(&asking.caller, &asking.configuration)?;
    let ground = Arc::new(Ground {
        asking,
        destination,
        index: Arc::clone(&service.owner.index),
        owner: service.owner.name.clone(),
        ledgers: Arc::clone(&service.owner.ledgers),
    });
    let seen = Arc::clone(&ground);
    let resolve = move || {
        let asked = seen.resolver::<C>();
        let mut resolved = call.resolve(&asked, &seen.index)?;
        seen.check_count(resolved.tasks.len())?;
        let budgets = seen.budgets(&call, &asked, &mut resolved.tasks)?;
        Ok((call, resolved, budgets))
    };
    let (call, resolved, budgets) = beside(resolve).await?;
    if resolved.is_refused() {
        return ground.refused(call, resolved);
    }
    let departure = tokio::select! {
        departure = ground.prepare(&resolved) => departure?,
        () = service.owner.interrupted() => {
            return Err(CommandError::failed("the call was interrupted before it began"));
        }
    };
    let alone = Arc::clone(&service.opening);
    let open = move || {
        // Two calls of one process must not find the same session free: the look and the line in
        // the index that makes the session busy are one step. A call of another process may still
        // look in between. Then both go on, each with a file of its own; a session whose file runs
        // share has a lock, which keeps the second child out.
        let _alone = alone.lock().unwrap_or_else(PoisonError::into_inner);
        ground.open(call, resolved, &budgets, departure)
    };
    beside(open).await
}

/// Runs blocking work on a thread of its own.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CommandError> + Send + 'static,
) -> Result<T, CommandError> {
    spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(CommandError::defect(
            "the call could not be prepared",
            &error,
        ))
    })
}

impl Ground {
    fn resolver<C: Call>(&self) -> Resolver<'_> {
        let PreparedCaller {
            caller,
            configuration,
            ..
        } = &self.asking;
        Resolver::new(C::FAMILY, caller, configuration, &self.destination)
    }

    /// Refuses a call with more tasks than its place may have: a fleet has more hands than this
    /// machine.
    fn check_count(&self, tasks: usize) -> Result<(), CommandError> {
        match self.destination {
            Destination::Here => {
                arguments::check_count(tasks, arguments::MAX_TASKS).map_err(|error| {
                    CommandError::from(error).hint(
                        "Make several calls of them, or send them to a fleet with --on fleet.",
                    )
                })
            }
            Destination::Fleet(_) => Ok(()),
        }
    }

    fn opening<'a, C: Call>(&'a self, departure: Option<&'a dyn Departure>) -> Opening<'a> {
        Opening::new(
            self.resolver::<C>(),
            self.index.store(),
            &self.owner,
            departure,
        )
    }

    /// Connects to the fleet of a call and sends the files of the directories that its tasks use;
    /// `None` if the call works here.
    async fn prepare<C: Call>(
        &self,
        resolved: &ResolvedCall<C>,
    ) -> Result<Option<Box<dyn Departure>>, CommandError> {
        let Destination::Fleet(destination) = &self.destination else {
            return Ok(None);
        };
        if self.asking.waiting == Waiting::Nobody {
            // The limit is looked at again when the runs are opened; this spares the upload.
            check_limit(self.index.store(), &self.asking, resolved.tasks.len())?;
        }
        let begins = resolved.tasks.iter().filter(|task| task.work.is_ok());
        let directories: Vec<_> = begins.map(|task| task.cwd.clone()).collect();
        let places = &self.asking.caller.places;
        let departure = depart(places, destination, &directories, self.asking.waiting);
        departure.await.map(Some)
    }

    /// Returns a call of which no task can begin: its answer has the reasons, and nothing else is
    /// left of it.
    fn refused<C: Call>(
        &self,
        call: C,
        resolved: ResolvedCall<C>,
    ) -> Result<ReadyCall<C>, CommandError> {
        info!(door = ?self.asking.caller.door, "call refused");
        let tasks = resolved.tasks.into_iter();
        let opened = Opened {
            tasks: tasks
                .filter_map(|task| Opening::refuse(task).transpose())
                .collect::<Result<_, _>>()?,
            warnings: resolved.warnings,
            notes: resolved.notes,
        };
        Ok(ReadyCall::new(call, opened, &self.asking, None))
    }

    /// Finds the budgets of a call, and refuses the tasks whose cost they could not limit.
    fn budgets<C: Call>(
        &self,
        call: &C,
        resolver: &Resolver<'_>,
        tasks: &mut [ResolvedTask],
    ) -> Result<CallBudgets, CommandError> {
        let PreparedCaller {
            caller,
            configuration,
            ..
        } = &self.asking;
        let settings = &configuration.settings.budget;
        let budgets = CallBudgets::find(&self.ledgers, caller, settings, call.budget())?;
        match &self.destination {
            Destination::Fleet(_) if !budgets.is_empty() => {
                return Err(CommandError::usage("a budget cannot be kept in a fleet yet").hint(
                    "Limit each run instead, with --max-cost or --max-tokens, or run the call on this machine.",
                ));
            }
            // A worker knows its own prices.
            Destination::Fleet(_) => {}
            Destination::Here => {
                let limits = budgets.limits();
                for task in tasks {
                    resolver.check_price(task, &limits);
                    if let Ok(work) = &mut task.work {
                        work.here.budgets = budgets.of_runs();
                    }
                }
            }
        }
        Ok(budgets)
    }

    /// Opens the runs of a call: from here on they have a directory and a record.
    fn open<C: Call>(
        &self,
        call: C,
        resolved: ResolvedCall<C>,
        budgets: &CallBudgets,
        departure: Option<Box<dyn Departure>>,
    ) -> Result<ReadyCall<C>, CommandError> {
        call.check_free(&resolved.sessions, &self.index)?;
        let place = match self.asking.waiting {
            Waiting::Somebody => None,
            // The number of background runs is limited.
            Waiting::Nobody => Some(Place::take(
                self.index.store(),
                &self.asking,
                resolved.tasks.len(),
            )?),
        };
        let opening = self.opening::<C>(departure.as_deref());
        let ResolvedCall {
            tasks,
            sessions,
            mut warnings,
            notes,
        } = resolved;
        let mut opened = Vec::new();
        let mut unbegun = UnbegunRuns::new(self.index.store().clone());
        for (number, (task, session)) in tasks.into_iter().zip(&sessions).enumerate() {
            let task = opening.open_run(task, &mut warnings, |cwd, directory| {
                let beginning = OpenedRun {
                    number,
                    cwd,
                    directory,
                };
                call.converse(&opening, session, &beginning)
            })?;
            unbegun.add(&task.task);
            opened.push(task);
        }
        let begins = opened.iter().filter(|task| task.work.is_ok());
        let runs: Vec<_> = begins.map(|opened| opened.task.run.clone()).collect();
        budgets.open(&self.ledgers, &runs)?;
        let about_files = departure.iter().flat_map(|departure| departure.warnings());
        warnings.extend(about_files);
        let counts = place.map(|place| {
            warnings.extend(place.warning);
            place.counts
        });
        info!(door = ?self.asking.caller.door, tasks = opened.len(), warnings = warnings.len(), "call opened");
        let opened = Opened {
            tasks: opened,
            warnings,
            notes,
        };
        let mut ready = ReadyCall::new(call, opened, &self.asking, departure);
        ready.counts = counts;
        ready.unbegun = Some(unbegun);
        Ok(ready)
    }
}
