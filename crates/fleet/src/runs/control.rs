//! Steers and stops runs of a fleet, from whichever machine.

use pi_subagents_engine::{OwnerReply, ToChild, Want};
use pi_subagents_fleet_queue::wire::RunEntry;
use pi_subagents_fleet_queue::{CallerEnd, Fleet};
use pi_subagents_vocabulary::{Advice, Ending, FleetStep, RunId};
use tokio::task::JoinSet;

use super::connection::{caller_of, connect, settings_of_user, unreachable};
use super::fleet_run::ended_without_worker;
use super::worker_requests::{WorkerReply, WorkerWant, ask_worker};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// Asks the worker of a run that a fleet does.
pub(crate) async fn ask_fleet(
    places: &Places,
    run: &RunId,
    want: Want,
) -> Result<OwnerReply, CommandError> {
    let fleet = fleet_of_user(places).await?;
    let reply = match want {
        Want::Stop => stop(&fleet, run, &caller_of(places)).await,
        Want::Send(what) => send(&fleet, run, what).await,
        // The copy of its record grows here, and its end is written beside it.
        Want::Wait | Want::PartialMessages { .. } => Ok(OwnerReply::Refused {
            message: format!("run {run} works in a fleet"),
        }),
    };
    fleet.close().await;
    reply
}

/// Connects to the fleet of the user whose places these are.
pub(crate) async fn fleet_of_user(places: &Places) -> Result<Fleet, CommandError> {
    connect(&settings_of_user(places), places).await
}

/// Stops runs for somebody and returns when the workers have stopped them, as far as they answer.
pub(crate) async fn stop_all(fleet: &Fleet, runs: &[RunId], by: &str) {
    let mut asked = JoinSet::new();
    for run in runs {
        let (fleet, run, by) = (fleet.clone(), run.clone(), by.to_owned());
        asked.spawn(async move { stop(&fleet, &run, &by).await });
    }
    while asked.join_next().await.is_some() {}
}

/// Stops a run: the worker that has it is asked. If none answers, the run ends here: it is queued, its
/// worker is gone, or its worker is silent and finds with its next sign of life that the run has
/// ended. The wish is written down first, so that it also holds for a worker that takes the run
/// meanwhile.
async fn stop(fleet: &Fleet, run: &RunId, by: &str) -> Result<OwnerReply, CommandError> {
    fleet.wish_stop(run, by).await.map_err(unreachable)?;
    match ask_worker(fleet, run, WorkerWant::Stop).await {
        WorkerReply::Replied(reply) => Ok(reply),
        WorkerReply::NobodyThere | WorkerReply::Silent => {
            let stopped = ended_without_worker(&Ending::Stopped);
            let ended = fleet.end_for_caller(run, &stopped).await;
            let ended = match ended.map_err(unreachable)? {
                CallerEnd::Now => stopped,
                CallerEnd::Before(ended) => *ended,
            };
            let ending: Option<Ending> = serde_json::from_value(ended.ending).ok();
            Ok(OwnerReply::Ended {
                status: ended.status,
                exit_code: ended.exit_code,
                message: ending.and_then(|ending| ending.message()),
            })
        }
        WorkerReply::NotAllowed(error) => Err(unreachable(error)),
    }
}

/// Sends something to the child of a run.
async fn send(fleet: &Fleet, run: &RunId, what: ToChild) -> Result<OwnerReply, CommandError> {
    match ask_worker(fleet, run, WorkerWant::Send(what)).await {
        WorkerReply::Replied(reply) => Ok(reply),
        WorkerReply::NobodyThere => Ok(OwnerReply::Refused {
            message: nobody_there(fleet, run).await,
        }),
        WorkerReply::Silent => Err(silent(run)),
        WorkerReply::NotAllowed(error) => Err(unreachable(error)),
    }
}

/// Says why nobody can be told something about a run.
async fn nobody_there(fleet: &Fleet, run: &RunId) -> String {
    let entry = fleet.entry(run).await.ok().flatten();
    match entry.map(|entry| entry.value) {
        Some(RunEntry::Running(running)) => format!(
            "worker {} has not begun with run {run} yet, or does not answer any more; try again",
            running.worker
        ),
        Some(RunEntry::Released(_)) | None => format!("run {run} is queued: no worker has it"),
        Some(RunEntry::Ended(_)) => format!("run {run} has ended"),
    }
}

fn silent(run: &RunId) -> CommandError {
    CommandError::failed(format!("the worker of run {run} did not answer")).advise(
        "",
        Advice::Fleet(FleetStep::Workers),
        " shows which workers are there.",
    )
}
