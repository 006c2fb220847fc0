//! A call under way in a fleet: its orders are given, its caller's lease is kept, and its runs are
//! followed to their end.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_fleet_queue::CallerLease;
use pi_subagents_fleet_queue::wire::{Conversation, Order};
use pi_subagents_records::{IndexedRun, RunDir};
use pi_subagents_vocabulary::{
    Door, EventSink, Happening, Plan, PlannedTask, Refusal, RunEvent, RunId, RunSummary, Task,
    Timestamp,
};
use tokio::time::timeout;

use super::conversation;
use super::departure::{FleetDeparture, TakenTask};
use super::left_files::left_files;
use super::shared_sinks::SharedSinks;
use crate::runs::control::stop_all;
use crate::runs::{FleetRun, GivenOrder, Until, follow_until};
use pi_subagents_calls::elsewhere::Waiting;
use pi_subagents_calls::opened_task::{OpenedTask, plan_here};
use pi_subagents_calls::owner::Owner;
use pi_subagents_calls::work::CallWork;
use pi_subagents_ground::error::CommandError;

/// The time that the workers may take to stop runs before nobody waits for them any more.
const STOPPING: Duration = Duration::from_secs(20);

/// Returns the work of a call in a fleet.
pub(crate) fn work(
    departure: FleetDeparture,
    tasks: Vec<OpenedTask>,
    owner: &Owner,
) -> CallWork<'_> {
    let order: Vec<RunId> = tasks.iter().map(|one| one.task.run.clone()).collect();
    let taken = departure.take_all();
    let runs: Vec<RunId> = taken.iter().map(|one| one.task.run.clone()).collect();
    let refused = plan_here(tasks);
    let (fleet, by) = (departure.fleet.clone(), departure.call.caller.clone());
    CallWork {
        begin: Box::new(move |sinks| {
            Box::pin(async move {
                let mut outcomes = Box::pin(run(&departure, taken, refused, owner, sinks)).await;
                departure.fleet.close().await;
                let place = |run: &Arc<RunSummary>| {
                    let task = run.task.as_ref()?;
                    order.iter().position(|id| *id == task.run)
                };
                outcomes.sort_by_key(place);
                outcomes
            })
        }),
        stop: Box::new(move || {
            // Without a runtime this process is about to end, and the lease ends with it.
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                let (fleet, runs, by) = (fleet.clone(), runs.clone(), by.clone());
                runtime.spawn(async move { stop_all(&fleet, &runs, &by).await });
            }
        }),
    }
}

async fn run(
    departure: &FleetDeparture,
    taken: Vec<TakenTask>,
    mut refused: Plan,
    owner: &Owner,
    sinks: Vec<Box<dyn EventSink>>,
) -> Vec<Arc<RunSummary>> {
    let sinks = SharedSinks::new(sinks);
    let lease = departure.lease().await;
    let tasks: Vec<Arc<Task>> = taken.iter().map(|one| Arc::clone(&one.task)).collect();
    let given = give(departure, owner, taken, &lease).await;
    refused.tasks.extend(given.refused);
    // The engine explains why the others do not begin.
    let sink: Box<dyn EventSink> = Box::new(sinks.clone());
    let refused = (!refused.tasks.is_empty()).then(|| owner.run(refused, vec![sink]));
    let runs: Vec<RunId> = given.runs.iter().map(|run| run.run.clone()).collect();
    let fleet = departure.fleet.clone();
    let sink: Box<dyn EventSink> = Box::new(sinks);
    let followed = follow_until(
        Until::Over(departure.settings().patience),
        fleet,
        owner.store.clone(),
        &departure.places,
        given.runs,
        vec![sink],
    );
    tokio::pin!(followed);
    let mut outcomes = tokio::select! {
        outcomes = &mut followed => outcomes,
        () = owner.interrupted() => {
            let mut outcomes = Vec::new();
            if departure.call.waiting == Waiting::Somebody {
                stop_all(&departure.fleet, &runs, &departure.call.caller).await;
                outcomes = timeout(STOPPING, &mut followed).await.unwrap_or_default();
            }
            outcomes
        }
    };
    let is_missing = |task: &&Arc<Task>| {
        let is_its =
            |run: &Arc<RunSummary>| run.task.as_ref().is_some_and(|one| one.run == task.run);
        runs.contains(&task.run) && !outcomes.iter().any(is_its)
    };
    let missing: Vec<_> = tasks.iter().filter(is_missing).map(left_behind).collect();
    if let Ok(Some(lease)) = lease {
        // A lease that is not ended now ends by itself.
        _ = lease.end().await;
    }
    outcomes.extend(missing);
    if let Some(refused) = refused {
        outcomes.extend(refused.await);
    }
    outcomes
}

/// Makes the summary of a run that this process follows no longer; the next command that looks
/// catches up with it.
fn left_behind(task: &Arc<Task>) -> Arc<RunSummary> {
    let event = |happening| RunEvent {
        run: task.run.clone(),
        at: Timestamp::now(),
        happening,
    };
    let why = "this process follows it no longer; whoever looks at it next asks the fleet for it";
    Arc::new(RunSummary::of(&[
        event(Happening::Accepted(Arc::clone(task))),
        event(Happening::Warned(why.to_owned())),
    ]))
}

/// The orders of a call that were given, and the tasks whose order was not.
struct Given {
    runs: Vec<FleetRun>,
    refused: Vec<PlannedTask>,
}

/// Gives the orders of a call.
async fn give(
    departure: &FleetDeparture,
    owner: &Owner,
    tasks: Vec<TakenTask>,
    lease: &Result<Option<CallerLease>, CommandError>,
) -> Given {
    let mut given = Given {
        runs: Vec::new(),
        refused: Vec::new(),
    };
    let idle = departure.why_queued().await;
    let earlier = owner.store.runs().unwrap_or_default();
    for TakenTask { task, mut order } in tasks {
        let submitted = match (&task.directory, lease) {
            (Some(directory), Ok(_)) => {
                let directory = RunDir::new(directory);
                let record = TaskRecord {
                    task: &task,
                    directory: &directory,
                };
                let given = give_one(departure, owner, record, &mut order, &earlier);
                given.await.map(|given| (directory.clone(), given))
            }
            // A worker would end it at once, because there seems to be no waiting caller.
            (Some(_), Err(error)) => Err(error.sentence()),
            (None, _) => Err("a run of a fleet needs a directory for its record".to_owned()),
        };
        match submitted {
            Ok((directory, given_order)) => {
                if let Some(idle) = &idle {
                    // The window shows it too.
                    _ = directory.warn(idle);
                }
                given.runs.push(FleetRun {
                    run: task.run.clone(),
                    directory,
                    order: Some(given_order),
                    is_from_elsewhere: false,
                });
            }
            Err(message) => given
                .refused
                .push(PlannedTask::alone(task, Err(Refusal { message }))),
        }
    }
    given
}

/// A task and the directory of its record.
struct TaskRecord<'a> {
    task: &'a Task,
    directory: &'a RunDir,
}

/// Gives one order, after the conversation that its run continues, the files that its session left
/// and the card that tells others of it.
async fn give_one(
    departure: &FleetDeparture,
    owner: &Owner,
    record: TaskRecord<'_>,
    order: &mut Order,
    earlier: &[IndexedRun],
) -> Result<GivenOrder, String> {
    let TaskRecord { task, directory } = record;
    if let Conversation::Sticky(sticky) = &order.conversation {
        let machine = &departure.call.caller;
        conversation::send(&departure.fleet, &owner.store, task, &sticky.key, machine).await?;
    }
    let files = departure.files_of(&task.cwd);
    let left = files.map(|files| left_files(earlier, task, files, &order.workspace));
    let left = left.transpose().map_err(|error| error.to_string())?;
    let left = left.flatten();
    if let Some(left) = &left {
        let begun = left.send(&departure.fleet, &mut order.workspace).await?;
        if let Some(begun) = begun {
            // The window shows it too.
            _ = directory.warn(&begun);
        }
    }
    departure.put_card(task, order).await;
    let given = departure.submit(&task.run, order).await;
    let given = given.map_err(|error| error.lines(Door::CommandLine))?;
    if let Some(files) = files {
        files.keep_for(&task.run, &order.workspace);
    }
    if let Some(left) = left {
        left.keep_for(&task.run, &order.workspace);
    }
    Ok(given)
}
