//! A call under way in a fleet: its orders are given, its caller's lease is kept, and its runs are
//! followed to their end.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use pi_subagents_fleet_queue::CallerLease;
use pi_subagents_fleet_queue::wire::{Conversation, Order};
use pi_subagents_records::{IndexedRun, RunDir};
use pi_subagents_vocabulary::{
    Door, EventSink, GrantError, Happening, Plan, PlannedTask, Refusal, RunEvent, RunId,
    RunSummary, Task, Timestamp,
};
use tokio::time::{sleep, timeout};

use super::conversation;
use super::departure::{FleetDeparture, TakenTask};
use super::left_files::left_files;
use super::purses::Purses;
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

/// The pause between two tries while running runs have everything that is left of a budget.
const ASK_AGAIN: Duration = Duration::from_millis(250);

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
    refused: Plan,
    owner: &Owner,
    mut sinks: Vec<Box<dyn EventSink>>,
) -> Vec<Arc<RunSummary>> {
    let purses = Purses::new(owner.treasurer());
    let (spending, bookkeeper) = purses.keep_books();
    sinks.push(spending);
    let sinks = SharedSinks::new(sinks);
    let outcomes = run_granted(departure, taken, refused, owner, sinks, &purses).await;
    bookkeeper.finish().await;
    outcomes
}

/// Runs the tasks as far as their budgets grant them something. A task for which others hold the rest
/// waits until they return it.
async fn run_granted(
    departure: &FleetDeparture,
    taken: Vec<TakenTask>,
    refused: Plan,
    owner: &Owner,
    sinks: SharedSinks,
    purses: &Purses,
) -> Vec<Arc<RunSummary>> {
    let lease = departure.lease().await;
    let tasks: Vec<Arc<Task>> = taken.iter().map(|one| Arc::clone(&one.task)).collect();
    let sink = || vec![Box::new(sinks.clone()) as Box<dyn EventSink>];
    let mut under_way: FuturesUnordered<UnderWay<'_>> = FuturesUnordered::new();
    if !refused.tasks.is_empty() {
        // The engine explains why they do not begin.
        under_way.push(Box::pin(owner.run(refused, sink())));
    }
    let mut waiting = taken;
    let mut runs: Vec<RunId> = Vec::new();
    let mut outcomes = Vec::new();
    loop {
        let Granted {
            ready,
            held,
            denied,
        } = granted(purses, waiting).await;
        waiting = held;
        let mut given = give(departure, owner, ready, &lease).await;
        for refused in &given.refused {
            purses.give_back(&refused.task.run, Vec::new()).await;
        }
        given.refused.extend(denied);
        if !given.refused.is_empty() {
            under_way.push(Box::pin(owner.run(Plan::of(given.refused), sink())));
        }
        if !given.runs.is_empty() {
            runs.extend(given.runs.iter().map(|run| run.run.clone()));
            under_way.push(Box::pin(follow_until(
                Until::Over(departure.settings().patience),
                departure.fleet.clone(),
                owner.store.clone(),
                &departure.places,
                given.runs,
                sink(),
            )));
        }
        if waiting.is_empty() && under_way.is_empty() {
            break;
        }
        tokio::select! {
            Some(ended) = under_way.next() => outcomes.extend(ended),
            () = sleep(ASK_AGAIN), if !waiting.is_empty() => {}
            () = owner.interrupted() => {
                if departure.call.waiting == Waiting::Somebody {
                    stop_all(&departure.fleet, &runs, &departure.call.caller).await;
                    let rest = async {
                        while let Some(ended) = under_way.next().await {
                            outcomes.extend(ended);
                        }
                    };
                    _ = timeout(STOPPING, rest).await;
                }
                break;
            }
        }
    }
    drop(under_way);
    if !waiting.is_empty() {
        let mut unbegun = Vec::new();
        for taken in waiting {
            purses.give_back(&taken.task.run, taken.budgets).await;
            let message = "The call was interrupted before it began.".to_owned();
            unbegun.push(PlannedTask::alone(taken.task, Err(Refusal { message })));
        }
        outcomes.extend(owner.run(Plan::of(unbegun), sink()).await);
    }
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
    outcomes
}

/// Runs that are followed, or whose refusal is recorded.
type UnderWay<'a> = Pin<Box<dyn Future<Output = Vec<Arc<RunSummary>>> + Send + 'a>>;

/// The tasks of a call by what their budgets say.
#[derive(Default)]
struct Granted {
    ready: Vec<TakenTask>,
    /// Running runs have the rest.
    held: Vec<TakenTask>,
    denied: Vec<PlannedTask>,
}

/// Asks the budgets of each task for its share.
async fn granted(purses: &Purses, waiting: Vec<TakenTask>) -> Granted {
    let mut granted = Granted::default();
    for mut taken in waiting {
        match purses.fill(&mut taken).await {
            Ok(()) => granted.ready.push(taken),
            Err(GrantError::Denied(denial)) if denial.is_held => granted.held.push(taken),
            Err(error) => {
                purses.give_back(&taken.task.run, taken.budgets).await;
                let message = sentence(&error);
                let refused = PlannedTask::alone(taken.task, Err(Refusal { message }));
                granted.denied.push(refused);
            }
        }
    }
    granted
}

/// Returns an error as the message of a run that is refused.
fn sentence(error: &GrantError) -> String {
    let words = error.to_string();
    let mut rest = words.chars();
    let first = rest.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(rest).collect()
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
    for TakenTask {
        task, mut order, ..
    } in tasks
    {
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
