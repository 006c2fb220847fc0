//! The life of one sub-agent: its child is launched and watched and, if it exits without the report
//! it owes, launched again.

use std::mem::discriminant;

use pi_subagents_vocabulary::{Decision, Ending, Happening, Rung, RungStep, Timestamp};
use tokio::task::spawn_blocking;
use tracing::warn;

use crate::checkout::mark_at_work;
use crate::child::{LaunchError, LaunchedChild, SessionLock, launch, lock_session};
use crate::fallback::{CooldownFile, choose_first};
use crate::gate::{Gates, run_gates};
use crate::head_start::EarlyChild;
use crate::live_child::{Outcome, Running};
use crate::machine_room::Claim;
use crate::purse::fill_purse;
use crate::request::UnitRequest;
use crate::room::{Patience, Place};
use crate::run_progress::RunProgress;
use crate::setup::prepare;
use crate::to_child::NotSent;
use crate::unit::Unit;

/// Runs a sub-agent to its end. Its last event is the one `Ended`.
pub(crate) async fn live(mut unit: Unit) {
    let ending = run(&mut unit).await;
    unit.report(Happening::Ended(ending)).await;
    unit.send_events().await;
}

/// Runs the children of a sub-agent, one after another. Their session is locked all the time, so
/// that nobody writes to it in between.
async fn run(unit: &mut Unit) -> Ending {
    let lock = match lock_session(&unit.task, &unit.plan).await {
        Ok(lock) => lock,
        Err(error) => return error.ending(&unit.task),
    };
    let ending = match fill_purse(unit).await {
        Ok(()) => run_prepared(unit, lock.as_ref()).await,
        Err(ending) => ending,
    };
    if let Some(child) = unit.head_start.take() {
        child.end().await;
    }
    if let Some(purse) = unit.purse.take() {
        purse.close().await;
    }
    // A keeper that could not start its child may not have closed its copy of the lock yet.
    if let Some(lock) = lock {
        lock.release();
    }
    ending
}

async fn run_prepared(unit: &mut Unit, lock: Option<&SessionLock>) -> Ending {
    if let Some(ending) = prepare(unit).await {
        return ending;
    }
    let ended = run_children(unit, lock).await;
    ended.unwrap_or_else(|error| error.ending(&unit.task))
}

async fn run_children(unit: &mut Unit, lock: Option<&SessionLock>) -> Result<Ending, LaunchError> {
    let mut progress = None;
    begin_awake(unit).await;
    loop {
        let (child, place) = match launch_in_room(unit, lock).await? {
            Ok(child) => child,
            Err(decision) => return Ok(end_without_child(unit, decision).await),
        };
        let progress =
            progress.get_or_insert_with(|| RunProgress::begin(&unit.task, &mut unit.plan));
        let at_work = mark_at_work(unit.plan.here.shared.as_ref());
        let outcome = Running::new(unit, progress, child).run().await;
        drop(at_work);
        match outcome {
            Outcome::Over(Ending::Completed) => match run_gates(unit, progress).await {
                Gates::Over(ending) => return Ok(ending),
                Gates::Mend(prompt) => {
                    // What the model does next answers the gate: it is not stuck because it runs
                    // the same test again.
                    progress.cycles.begin_again();
                    progress.prompt = prompt;
                }
            },
            Outcome::Over(ending) => return Ok(ending),
            Outcome::Again(prompt) => progress.prompt = prompt,
        }
        drop(place);
        if let Some(decision) = requested_end(unit) {
            return Ok(end_without_child(unit, decision).await);
        }
    }
}

/// Lets a run that may change its model begin with one that does not rest.
async fn begin_awake(unit: &mut Unit) {
    let Some(fallbacks) = &unit.plan.here.fallbacks else {
        return;
    };
    let file = CooldownFile::at(fallbacks.cooldowns.clone());
    let now = Timestamp::now();
    // A file that cannot be read has no rests.
    let cooldowns = spawn_blocking(move || file.read(now)).await;
    let change = choose_first(&mut unit.plan, &cooldowns.unwrap_or_default(), now);
    if let Some(change) = change {
        unit.report(Happening::FellBack(change)).await;
    }
}

/// Starts a child. Where there is no room for it, waits until another child has ended or somebody
/// wants the end of the run.
async fn launch_in_room(
    unit: &mut Unit,
    lock: Option<&SessionLock>,
) -> Result<Result<(LaunchedChild, Place), Decision>, LaunchError> {
    if let Some(head_start) = unit.head_start.take()
        && let Some(EarlyChild { child, claim }) = head_start.take_over().await
    {
        return Ok(Ok((child, unit.room.take(Some(claim)))));
    }
    let mut claim = match claim_room(unit).await {
        Ok(claim) => Some(claim),
        Err(decision) => return Ok(Err(decision)),
    };
    let mut patience = Patience::new();
    loop {
        let memory = unit.memory.clone();
        match launch(&unit.launcher, &unit.task, &unit.plan, memory, lock).await {
            Ok(child) => return Ok(Ok((child, unit.room.take(claim.take())))),
            Err(error) if error.is_for_want_of_room() => {
                warn!(run = %unit.task.run, %error, "there is no room for a sub-agent");
                if !patience.wait_for(&unit.room).await {
                    return Err(error.explained());
                }
            }
            Err(error) => return Err(error),
        }
        if let Some(decision) = requested_end(unit) {
            return Ok(Err(decision));
        }
    }
}

/// Claims room on the machine for a child. Where there is none, the run says what it waits for.
async fn claim_room(unit: &mut Unit) -> Result<Claim, Decision> {
    let mut told = None;
    loop {
        let shortage = match unit.machine.claim(unit.plan.here.runner).await {
            Ok(claim) => {
                if told.is_some() {
                    let words = "this machine has room for it now".to_owned();
                    report_step(unit, RungStep::WentOn, words).await;
                }
                return Ok(claim);
            }
            Err(shortage) => shortage,
        };
        // The figures change all the time.
        let kind = discriminant(&shortage);
        if told.replace(kind) != Some(kind) {
            report_step(unit, RungStep::Queued, shortage.to_string()).await;
        }
        unit.room.wait_a_moment().await;
        if let Some(decision) = requested_end(unit) {
            return Err(decision);
        }
    }
}

async fn report_step(unit: &mut Unit, step: RungStep, words: String) {
    unit.report(Happening::Rung(Rung { step, words })).await;
    unit.send_events().await;
}

/// Ends a run that has no child right now.
pub(crate) async fn end_without_child(unit: &mut Unit, decision: Decision) -> Ending {
    unit.report(Happening::Stopping(decision.kind())).await;
    decision.ending()
}

/// Answers the requests that came while there was no child. Returns the decision to end the run, if
/// a request asked for that.
pub(crate) fn requested_end(unit: &mut Unit) -> Option<Decision> {
    while let Ok(request) = unit.requests.try_recv() {
        match request {
            UnitRequest::End(decision) => return Some(decision),
            // A child that is started after a pause has all its time.
            UnitRequest::Pause { .. } | UnitRequest::Resume { .. } => {}
            UnitRequest::Send { answer, .. } => {
                let run = unit.task.run.clone();
                // The asker may have left.
                _ = answer.send(Err(NotSent::NotStarted(run)));
            }
        }
    }
    None
}
