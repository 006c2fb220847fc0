//! The ground on which a call stands: its caller, their configuration and the records of this process.
//! Its runs are opened with them, at its beginning and later.

use std::sync::Arc;

use pi_subagents_records::{Ledgers, OwnerName};
use pi_subagents_vocabulary::{BudgetLimits, Refusal, RunId};
use tracing::info;

use crate::PreparedCaller;
use crate::budget::CallBudgets;
use crate::call::{Call, Opened, OpenedRun, ReadyCall, ResolvedCall};
use crate::destination::Destination;
use crate::detached_process::{Place, check_limit};
use crate::elsewhere::{Departure, Waiting, depart};
use crate::first_requests::{agreed, expensive};
use crate::graph::CallBounds;
use crate::open_run::Opening;
use crate::opened_task::OpenedTask;
use crate::resolve::{ResolvedTask, Resolver};
use crate::unbegun_runs::UnbegunRuns;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::known_index::KnownIndex;

/// The values with which the runs of a call are opened.
pub(crate) struct CallGround {
    pub(crate) asking: PreparedCaller,
    pub(crate) destination: Destination,
    pub(crate) index: Arc<KnownIndex>,
    pub(crate) owner: OwnerName,
    pub(crate) ledgers: Arc<Ledgers>,
}

impl CallGround {
    pub(crate) fn resolver<C: Call>(&self) -> Resolver<'_> {
        let PreparedCaller {
            caller,
            configuration,
            ..
        } = &self.asking;
        Resolver::new(C::FAMILY, caller, configuration, &self.destination)
    }

    /// Returns what the call may have at its door.
    pub(crate) fn bounds(&self, budget: BudgetLimits) -> CallBounds<'_> {
        let PreparedCaller {
            caller,
            configuration,
            ..
        } = &self.asking;
        CallBounds::of(caller, configuration, &self.destination, budget)
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
    pub(crate) async fn prepare<C: Call>(
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
    pub(crate) fn refused<C: Call>(
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
    pub(crate) fn budgets<C: Call>(
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
            // A worker knows its own prices.
            Destination::Fleet(_) if budgets.is_empty() => {}
            Destination::Fleet(_) | Destination::Here => limit(&budgets, resolver, tasks),
        }
        Ok(budgets)
    }

    /// Prices the first requests of a call. Refuses prompts for which a limit has no room, tells what
    /// it costs to continue a long conversation, and asks a person whether an expensive call may begin.
    pub(crate) fn price<C: Call>(
        &self,
        call: &C,
        asked: &Resolver<'_>,
        resolved: &mut ResolvedCall<C>,
        budgets: &CallBudgets,
    ) -> Result<(), CommandError> {
        let limits = budgets.limits().allowance();
        let mut requests = Vec::new();
        for (task, session) in resolved.tasks.iter_mut().zip(&resolved.sessions) {
            let Ok(work) = &task.work else { continue };
            let own = work.work.limits.allowance;
            let request = call.first_request(asked, session, task);
            let request = asked.priced(request, task, work);
            if let Some(message) = request.excess(&limits, "the budget") {
                return Err(CommandError::failed(message).hint(
                    "Nothing was sent. Raise the limit, or leave something out of the prompt.",
                ));
            }
            if let Some(message) = request.excess(&own, "the run") {
                task.work = Err(Refusal { message });
                continue;
            }
            resolved.warnings.extend(request.remark());
            requests.push(request);
        }
        let above = asked.settings().ask_above_cost;
        if let Some(words) = expensive(&requests, above)
            && !self.asking.caller.overrides.is_agreed
        {
            let warning = agreed(words, self.asking.consent.as_ref())?;
            resolved.warnings.extend(warning);
        }
        Ok(())
    }

    /// Opens the runs of a call: from here on they have a directory and a record.
    pub(crate) fn open<C: Call>(
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
        let mut unbegun = UnbegunRuns::new(self.index.store().clone());
        let mut run = OpenRuns {
            opening: &opening,
            warnings: &mut warnings,
            unbegun: &mut unbegun,
        };
        let opened = run.open(&call, tasks, &sessions)?;
        budgets.open(&self.ledgers, &begun(&opened))?;
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

    /// Opens the runs of a map of the call, whose items are known by now. Also returns what a
    /// person should know about them.
    pub(crate) fn open_late<C: Call>(
        &self,
        call: &C,
        budgets: &CallBudgets,
    ) -> Result<LateTasks, CommandError> {
        let asked = self.resolver::<C>();
        let mut resolved = call.resolve(&asked, &self.index)?;
        limit(budgets, &asked, &mut resolved.tasks);
        let opening = self.opening::<C>(None);
        let mut unbegun = UnbegunRuns::new(self.index.store().clone());
        let mut run = OpenRuns {
            opening: &opening,
            warnings: &mut resolved.warnings,
            unbegun: &mut unbegun,
        };
        let opened = run.open(call, resolved.tasks, &resolved.sessions)?;
        budgets.expect(&self.ledgers, &begun(&opened))?;
        unbegun.begin();
        Ok(LateTasks {
            tasks: opened,
            warnings: resolved.warnings,
        })
    }
}

/// Runs of a map that were opened while their call was running.
pub(crate) struct LateTasks {
    pub(crate) tasks: Vec<OpenedTask>,
    pub(crate) warnings: Vec<String>,
}

/// Lets tasks count in budgets, and refuses those whose cost could not be limited.
fn limit(budgets: &CallBudgets, resolver: &Resolver<'_>, tasks: &mut [ResolvedTask]) {
    let limits = budgets.limits();
    for task in tasks {
        resolver.check_price(task, &limits);
        if let Ok(work) = &mut task.work {
            work.here.budgets = budgets.of_runs();
        }
    }
}

/// Returns the runs that are not refused.
fn begun(opened: &[OpenedTask]) -> Vec<RunId> {
    let begins = opened.iter().filter(|task| task.work.is_ok());
    begins.map(|opened| opened.task.run.clone()).collect()
}

/// Opens the runs of a call, one after the other.
struct OpenRuns<'a> {
    opening: &'a Opening<'a>,
    warnings: &'a mut Vec<String>,
    unbegun: &'a mut UnbegunRuns,
}

impl OpenRuns<'_> {
    fn open<C: Call>(
        &mut self,
        call: &C,
        tasks: Vec<ResolvedTask>,
        sessions: &[C::Session],
    ) -> Result<Vec<OpenedTask>, CommandError> {
        let mut opened = Vec::new();
        for (number, (task, session)) in tasks.into_iter().zip(sessions).enumerate() {
            let opening = self.opening;
            let task = opening.open_run(task, self.warnings, |cwd, directory| {
                let beginning = OpenedRun {
                    number,
                    cwd,
                    directory,
                };
                call.converse(opening, session, &beginning)
            })?;
            self.unbegun.add(&task.task);
            opened.push(task);
        }
        Ok(opened)
    }
}
