//! A call under way in a fleet: its orders are given, its caller's lease is kept, and its runs are
//! followed to their end.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_fleet_queue::CallerLease;
use pi_subagents_fleet_queue::wire::{Conversation, Order};
use pi_subagents_records::{IndexedRun, RunDir};
use pi_subagents_vocabulary::{
    Door, EventSink, Happening, PlannedTask, Refusal, RunEvent, RunId, RunSummary, Task, Timestamp,
};
use tokio::time::timeout;

use super::conversation;
use super::departure::FleetDeparture;
use super::left_files::left_files;
use super::shared_sinks::SharedSinks;
use crate::runs::control::stop_all;
use crate::runs::{FleetRun, GivenOrder, Until, follow_until};
use pi_subagents_calls::elsewhere::Waiting;
use pi_subagents_calls::opened_task::{OpenedTask, Sorted, sorted};
use pi_subagents_calls::owner::Owner;
use pi_subagents_calls::work::Work;
use pi_subagents_ground::error::CommandError;

/// The time that the workers may take to stop runs before nobody waits for them any more.
const STOPPING: Duration = Duration::from_secs(20);

/// Returns the work of a call in a fleet.
pub(crate) fn work(departure: FleetDeparture, tasks: Vec<OpenedTask>, owner: &Owner) -> Work<'_> {
    let order: Vec<RunId> = tasks.iter().map(|one| one.task.run.clone()).collect();
    let sorted = sorted(tasks);
    let tasks = sorted.elsewhere.iter();
    let runs: Vec<RunId> = tasks.map(|task| task.run.clone()).collect();
    let (fleet, by) = (departure.fleet.clone(), departure.call.caller.clone());
    Work {
        begin: Box::new(move |sinks| {
            Box::pin(async move {
                let mut outcomes = Box::pin(run(&departure, sorted, owner, sinks)).await;
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
    sorted: Sorted,
    owner: &Owner,
    sinks: Vec<Box<dyn EventSink>>,
) -> Vec<Arc<RunSummary>> {
    let sinks = SharedSinks::new(sinks);
    let Sorted {
        here,
        elsewhere: tasks,
    } = sorted;
    let lease = departure.lease().await;
    let given = give(departure, owner, &tasks, &lease).await;
    let mut refused = here;
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
    let why = format!(
        "nobody here follows it any more; pi-subagents wait {} asks the fleet for it",
        task.run
    );
    Arc::new(RunSummary::of(&[
        event(Happening::Accepted(Arc::clone(task))),
        event(Happening::Warned(why)),
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
    tasks: &[Arc<Task>],
    lease: &Result<Option<CallerLease>, CommandError>,
) -> Given {
    let mut given = Given {
        runs: Vec::new(),
        refused: Vec::new(),
    };
    let idle = departure.why_queued().await;
    let earlier = owner.store.runs().unwrap_or_default();
    for task in tasks {
        let submitted = match (&task.directory, lease, departure.order_of(&task.run)) {
            (Some(directory), Ok(_), Some(mut order)) => {
                let directory = RunDir::new(directory);
                let given = give_one(departure, owner, (task, &directory), &mut order, &earlier);
                given.await.map(|given| (directory.clone(), given))
            }
            // A worker would end it at once, because there seems to be no waiting caller.
            (Some(_), Err(error), _) => Err(error.sentence()),
            (None, ..) => Err("a run of a fleet needs a directory for its record".to_owned()),
            (Some(_), Ok(_), None) => {
                Err("this is a bug in pi-subagents: the task has no order".to_owned())
            }
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
            Err(message) => given.refused.push(PlannedTask {
                task: Arc::clone(task),
                work: Err(Refusal { message }),
            }),
        }
    }
    given
}

/// Gives one order, after the conversation that its run continues, the files that its session left
/// and the card that tells others of it.
async fn give_one(
    departure: &FleetDeparture,
    owner: &Owner,
    (task, directory): (&Task, &RunDir),
    order: &mut Order,
    earlier: &[IndexedRun],
) -> Result<GivenOrder, String> {
    if let Conversation::Sticky(sticky) = &order.conversation {
        let named = (sticky.key.as_str(), departure.call.caller.as_str());
        conversation::send(&departure.fleet, &owner.store, task, named).await?;
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
