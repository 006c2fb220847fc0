//! Sends requests to the owners of runs.

use pi_subagents_engine::{OwnerReply, Want};
use pi_subagents_records::IndexedRun;
use pi_subagents_view::Role;

use super::message::Notice;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::owner_request::{request, stop_run};

/// Sends a message to the child of a run, and returns a notice about the outcome.
pub(super) async fn steer(places: Places, run: IndexedRun, message: String) -> Notice {
    match request(&places, &run, Want::Steer { message }).await {
        Ok(OwnerReply::Done) => Notice::new(
            Role::Success,
            format!("{} reads it before its next turn.", run.name),
        ),
        Ok(OwnerReply::Refused { message }) => Notice::new(
            Role::Failed,
            format!("The message did not arrive: {message}."),
        ),
        Err(error) => Notice::new(Role::Failed, error.to_answer()),
    }
}

/// Stops a run, and returns a notice when all of its processes are gone.
pub(super) async fn stop(places: Places, run: IndexedRun) -> Notice {
    match stop_run(&places, &run).await {
        Ok(_) => Notice::new(
            Role::Success,
            format!("{} was stopped, and all its processes are gone.", run.name),
        ),
        Err(error) => Notice::new(Role::Failed, error.to_answer()),
    }
}
