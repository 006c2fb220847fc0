//! Requests to the owner of a run, whichever process of this user that is: to steer it, to stop
//! it, to wait for its end.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_engine::{
    AskError, OwnerAddress, OwnerReply, OwnerRequest, Want, ask, end_without_owner,
};
use pi_subagents_records::{IndexedRun, Store};
use pi_subagents_vocabulary::text::one_line;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

use crate::elsewhere::ask_elsewhere;
use crate::follow::{FollowedRun, Follower};
use crate::owned::{OwnerProcess as _, is_owned};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// The time for which the last bytes of a run that a fleet has stopped may be under way.
const COPYING: Duration = Duration::from_secs(15);

/// Asks the owner of a run, whichever process that is.
pub async fn request(
    places: &Places,
    run: &IndexedRun,
    want: Want,
) -> Result<OwnerReply, CommandError> {
    if run.owner.fleet.is_some() {
        return ask_elsewhere(places, &run.run, want).await;
    }
    let asked = ask_owner(run, want).await;
    asked.map_err(|error| error.for_person(run))
}

/// The reason why the owner of a run did not fulfil a request.
pub(crate) enum NotAsked {
    NoSocket,
    NoAnswer(AskError),
}

pub(crate) async fn ask_owner(run: &IndexedRun, want: Want) -> Result<OwnerReply, NotAsked> {
    let socket = run.owner.socket.as_ref().ok_or(NotAsked::NoSocket)?;
    let owner = OwnerAddress {
        socket,
        process: run.owner_process(),
    };
    let request = OwnerRequest {
        run: run.run.to_string(),
        want,
    };
    ask(owner, &request).await.map_err(NotAsked::NoAnswer)
}

impl NotAsked {
    /// Writes the problem for the person who wanted something of the run.
    fn for_person(&self, run: &IndexedRun) -> CommandError {
        let (id, pid) = (&run.run, run.owner.pid);
        match self {
            Self::NoSocket => CommandError::failed(format!(
                "the owner of run {id} (pid {pid}) cannot be reached: it has no socket"
            ))
            .hint("Run pi-subagents doctor to check the directory of the sockets."),
            Self::NoAnswer(AskError::Stopped { .. }) => CommandError::failed(format!(
                "the owner of run {id} (pid {pid}) is stopped (suspended) and cannot answer"
            ))
            .hint(format!(
                "Continue it with kill -CONT {pid} (or fg in its shell), or end the run without it: \
                 pi-subagents stop {id}"
            )),
            Self::NoAnswer(error) => {
                CommandError::failed(format!("run {id} cannot be reached")).because(error)
            }
        }
    }

    /// Says that a run was ended although its owner did not answer.
    fn ended_without(&self, run: &IndexedRun) -> String {
        let (name, pid) = (one_line(&run.name), run.owner.pid);
        match self {
            Self::NoAnswer(AskError::Stopped { .. }) => format!(
                "the owner of {name} (pid {pid}) is stopped, so the run was ended without it; \
                 kill -CONT {pid} continues the owner, kill -KILL {pid} ends it"
            ),
            Self::NoAnswer(_) | Self::NoSocket => format!(
                "the owner of {name} (pid {pid}) did not answer, so the run was ended without it"
            ),
        }
    }
}

/// Asks all owners at once. Returns the notices for a person, and the errors.
pub async fn stop_all(
    places: Arc<Places>,
    runs: Vec<IndexedRun>,
) -> Result<Vec<Result<String, String>>, CommandError> {
    let mut asked = JoinSet::new();
    for run in runs {
        let places = Arc::clone(&places);
        asked.spawn(async move {
            match stop_run(&places, &run).await {
                Ok(note) => note.map(Ok),
                Err(error) => Some(Err(error.sentence())),
            }
        });
    }
    let mut told = Vec::new();
    while let Some(joined) = asked.join_next().await {
        told.extend(joined.unwrap_or_else(|error| Some(Err(error.to_string()))));
    }
    Ok(told)
}

/// Stops a run and returns when all of its processes are gone. An owner that does not answer is not
/// waited for: the run is then ended without it, and the returned notice says so.
pub async fn stop_run(places: &Places, run: &IndexedRun) -> Result<Option<String>, CommandError> {
    if run.owner.fleet.is_some() {
        let copied = Follower::start(places).end_of(run);
        ask_elsewhere(places, &run.run, Want::Stop).await?;
        // Its end is here when the copy of its record is whole.
        _ = timeout(COPYING, copied.over()).await;
        return Ok(None);
    }
    let error = match ask_owner(run, Want::Stop).await {
        // An owner that has forgotten the run has ended it by itself.
        Ok(OwnerReply::Done | OwnerReply::Refused { .. }) => return Ok(None),
        Err(error) => error,
    };
    if run.owner_process().is_none() {
        return Err(error.for_person(run));
    }
    let (store, ended) = (Store::new(&places.agent_dir), run.clone());
    let closed = spawn_blocking(move || {
        end_without_owner(&ended.run);
        // The record of an owner that is gone is closed by the next reader.
        if is_owned(&ended) {
            store.close_stopped(&ended).map(drop)
        } else {
            Ok(())
        }
    });
    match closed.await {
        Ok(Ok(())) => Ok(is_owned(run).then(|| error.ended_without(run))),
        Ok(Err(error)) => {
            let text = format!("could not record the end of run {}", run.run);
            Err(CommandError::failed(text).because(&error))
        }
        Err(error) => Err(CommandError::failed("stop failed").because(&error)),
    }
}

/// Waits for the end of a run, and returns whether it was seen. Asks the owner first; if the owner is gone, has forgotten the run or
/// cannot be asked, the files of the run and the end of the owner show when the run is over.
pub async fn wait_for_one(
    run: &IndexedRun,
    followed: FollowedRun,
    tell: &mpsc::Sender<String>,
) -> bool {
    if run.owner.fleet.is_some() {
        let unseen = followed.over().await;
        if let Some(why) = &unseen {
            // The reader may have seen enough.
            _ = tell.send(format!("! {}: {why}", one_line(&run.name))).await;
        }
        return unseen.is_none();
    }
    match ask_owner(run, Want::Wait).await {
        Ok(_) => return true,
        Err(NotAsked::NoAnswer(AskError::Stopped { pid })) => {
            let name = one_line(&run.name);
            let note = format!(
                "! the owner of {name} (pid {pid}) is stopped (suspended), and this command waits for it. kill -CONT {pid} \
                 continues it, pi-subagents stop {} ends the run without it.",
                run.run
            );
            // The reader may have seen enough.
            _ = tell.send(note).await;
        }
        Err(_) => {}
    }
    followed.over().await.is_none()
}
