//! Ends a run, also if its owner is suspended, silent or gone.

use std::time::Duration;

use pi_subagents_engine::{OwnerReply, Want, end_without_owner};
use pi_subagents_records::{IndexedRun, RunState, Store};
use pi_subagents_vocabulary::{Status, Timestamp};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::owner::{NotAsked, ask_owner};
use super::{Addressee, Reach};
use crate::elsewhere::ask_elsewhere;
use crate::follow::Follower;
use crate::owner_process::{OwnerProcess as _, is_owned};
use crate::row::RunRow;
use crate::upkeep::close_abandoned;
use pi_subagents_ground::error::CommandError;

/// The time for which the last bytes of a run that a fleet has stopped may be under way.
const COPYING: Duration = Duration::from_secs(15);

/// A run that was to be stopped, as it is now.
#[derive(Debug, Clone)]
pub struct Stopped {
    name: String,
    /// The status of the run: that it was stopped, or its own end, which came first.
    pub status: Status,
    /// Its line in the index with its end, if it has one.
    pub run: Option<IndexedRun>,
    /// The run with its record, if it has one.
    pub row: Option<RunRow>,
    without: Option<WithoutOwner>,
}

/// An owner that did not end its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WithoutOwner {
    /// Somebody has stopped its process.
    Suspended(u32),
    /// It did not answer.
    Silent(u32),
}

impl Stopped {
    /// Says what became of the run.
    pub fn sentence(&self) -> String {
        let name = &self.name;
        match self.status {
            Status::Queued | Status::Running | Status::Waiting => {
                format!("{name} still runs.")
            }
            Status::Parked => format!("{name} was parked already."),
            Status::Stopped => format!("{name} was stopped, and all its processes are gone."),
            status @ (Status::Completed | Status::Failed) => {
                format!("{name} had already {}.", status.as_str())
            }
        }
    }

    /// Says that the run was ended without its owner, if it was.
    pub fn note(&self) -> Option<String> {
        let name = &self.name;
        Some(match self.without? {
            WithoutOwner::Suspended(pid) => format!(
                "the owner of {name} (pid {pid}) is stopped, so the run was ended without it; \
                 kill -CONT {pid} continues the owner, kill -KILL {pid} ends it"
            ),
            WithoutOwner::Silent(pid) => format!(
                "the owner of {name} (pid {pid}) did not answer, so the run was ended without it"
            ),
        })
    }

    /// Returns the sentence and the note.
    pub fn lines(&self) -> Vec<String> {
        let note = self.note().map(|note| format!("! {note}"));
        std::iter::once(self.sentence()).chain(note).collect()
    }

    /// Returns the run as it is now; `ended` is its status if its owner has reported it.
    fn of(run: &Addressee, ended: Option<Status>, without: Option<WithoutOwner>) -> Self {
        let row = run.record.as_ref().map(RunRow::read);
        let recorded = row.as_ref().map(|row| row.report.status);
        let status = ended.or(recorded).unwrap_or(Status::Stopped);
        let record = run.record.clone().map(|mut record| {
            record.state = state_of(status, row.as_ref());
            record
        });
        Self {
            name: run.shown_name(),
            status,
            run: record,
            row,
            without,
        }
    }
}

fn state_of(status: Status, row: Option<&RunRow>) -> RunState {
    if !status.is_over() {
        return RunState::Open;
    }
    let end = row.map(|row| &row.report);
    RunState::Over {
        status,
        exit_code: end.and_then(|end| end.exit_code).unwrap_or(1),
        at: end
            .and_then(|end| end.ended_at)
            .unwrap_or_else(Timestamp::now),
        used: None,
    }
}

/// Stops several runs at once. Returns of each what became of it, in their order. A run that could
/// not be asked and is over all the same counts as stopped.
pub async fn stop_all(
    reach: &Reach,
    runs: Vec<IndexedRun>,
) -> Vec<(IndexedRun, Result<Stopped, CommandError>)> {
    let mut asked = JoinSet::new();
    for (place, run) in runs.iter().cloned().map(Addressee::from).enumerate() {
        let reach = reach.clone();
        asked.spawn(async move {
            let stopped = stop(&reach, &run).await;
            let stopped = stopped.or_else(|error| {
                let now = Stopped::of(&run, None, None);
                if now.status.is_over() {
                    Ok(now)
                } else {
                    Err(error)
                }
            });
            (place, stopped)
        });
    }
    let mut stopped: Vec<_> = asked.join_all().await;
    stopped.sort_by_key(|(place, _)| *place);
    let outcomes = stopped.into_iter().map(|(_, outcome)| outcome);
    runs.into_iter().zip(outcomes).collect()
}

/// Stops a run and returns when all of its processes are gone. An owner that does not answer is not
/// waited for: the run is then ended without it, and the note says so.
pub async fn stop(reach: &Reach, run: &Addressee) -> Result<Stopped, CommandError> {
    if let Some(own) = &reach.own
        && let Ok(summary) = own.stop(run.run.clone()).await
    {
        return Ok(Stopped::of(run, Some(summary.status()), None));
    }
    let Some(record) = &run.record else {
        return Err(CommandError::failed(format!("{} is not running", run.run)));
    };
    if record.owner.fleet.is_some() {
        let copied = Follower::start(&reach.places).end_of(record);
        let reply = ask_elsewhere(&reach.places, &record.run, Want::Stop).await?;
        // Its end is here when the copy of its record is whole.
        _ = timeout(COPYING, copied.over()).await;
        return Ok(Stopped::of(run, status_in(&reply), None));
    }
    let error = match ask_owner(record, Want::Stop).await {
        // An owner that has forgotten the run has ended it by itself.
        Ok(reply) => return Ok(Stopped::of(run, status_in(&reply), None)),
        Err(error) => error,
    };
    if record.owner_process().is_none() {
        return Err(error.for_person(record));
    }
    end_alone(Store::new(&reach.places.agent_dir), record).await?;
    let without = is_owned(record).then(|| without_owner(&error, record.owner.pid));
    Ok(Stopped::of(run, None, without))
}

/// Ends a run whose owner does not answer.
async fn end_alone(store: Store, run: &IndexedRun) -> Result<(), CommandError> {
    let ended = run.clone();
    let closed = spawn_blocking(move || {
        end_without_owner(&ended.run);
        if is_owned(&ended) {
            return store.close_stopped(&ended).map(drop);
        }
        close_abandoned(&store);
        Ok(())
    });
    match closed.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            let text = format!("could not record the end of run {}", run.run);
            Err(CommandError::failed(text).because(&error))
        }
        Err(error) => Err(CommandError::failed("stop failed").because(&error)),
    }
}

fn without_owner(error: &NotAsked, pid: u32) -> WithoutOwner {
    if error.is_suspended() {
        WithoutOwner::Suspended(pid)
    } else {
        WithoutOwner::Silent(pid)
    }
}

/// Returns the status that an owner reports; none if it has forgotten the run.
fn status_in(reply: &OwnerReply) -> Option<Status> {
    let OwnerReply::Ended { status: word, .. } = reply else {
        return None;
    };
    // An owner of an earlier version has another word for a stopped run.
    let status: Option<Status> = serde_json::from_value(word.as_str().into()).ok();
    status.filter(|status| status.is_over())
}
