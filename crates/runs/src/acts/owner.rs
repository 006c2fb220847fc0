//! Requests to the owner of a run, whichever process of this user that is.

use pi_subagents_engine::{AskError, OwnerAddress, OwnerReply, OwnerRequest, Want, ask};
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::Advice;

use crate::elsewhere::ask_elsewhere;
use crate::owner_process::OwnerProcess as _;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// Asks the owner of a run, or the worker of its fleet.
pub(super) async fn request(
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
pub(super) enum NotAsked {
    NoSocket,
    NoAnswer(AskError),
}

pub(super) async fn ask_owner(run: &IndexedRun, want: Want) -> Result<OwnerReply, NotAsked> {
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
    /// Returns whether somebody has stopped the owner (SIGSTOP).
    pub(super) fn is_suspended(&self) -> bool {
        matches!(self, Self::NoAnswer(AskError::Stopped { .. }))
    }

    /// Writes the problem for the person who wanted something of the run.
    pub(super) fn for_person(&self, run: &IndexedRun) -> CommandError {
        let (id, pid) = (&run.run, run.owner.pid);
        match self {
            Self::NoSocket => CommandError::failed(format!(
                "the owner of run {id} (pid {pid}) cannot be reached: it has no socket"
            ))
            .advise("", Advice::Doctor, " checks the directory of the sockets."),
            Self::NoAnswer(AskError::Stopped { .. }) => CommandError::failed(format!(
                "the owner of run {id} (pid {pid}) is stopped (suspended) and cannot answer"
            ))
            .advise(
                format!(
                    "Continue it with kill -CONT {pid} (or fg in its shell), or end the run \
                     without it: "
                ),
                Advice::Stop(id.to_string()),
                "",
            ),
            Self::NoAnswer(error) => {
                CommandError::failed(format!("run {id} cannot be reached")).because(error)
            }
        }
    }
}
