//! Sends requests to the owners of runs, and receives the messages that their models are writing.

use std::collections::HashMap;

use pi_subagents_delegation::RunId;
use pi_subagents_engine::{Extent, OwnerReply, PartialStream, Want};
use pi_subagents_sessions::{IndexedRun, Store};
use pi_subagents_windows::Role;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::message::{Message, Notice};
use crate::runs::fleet::FleetWords;
use crate::runs::owner_request::{request, stop_run};

/// Reads the messages that models are still writing.
#[derive(Default)]
pub(super) struct PartialReaders {
    tasks: HashMap<(RunId, Extent), AbortHandle>,
    fleet: FleetWords,
}

impl PartialReaders {
    /// Reads the partial messages of these runs and of no others.
    pub(super) fn read_only(
        &mut self,
        wanted: HashMap<(RunId, Extent), IndexedRun>,
        tell: &mpsc::Sender<Message>,
    ) {
        self.tasks.retain(|read, task| {
            let is_wanted = wanted.contains_key(read);
            if !is_wanted {
                task.abort();
            }
            is_wanted
        });
        for ((id, extent), run) in wanted {
            self.tasks.entry((id, extent)).or_insert_with(|| {
                let tell = tell.clone();
                let task = if run.owner.fleet.is_some() {
                    tokio::spawn(read_from_fleet(run, self.fleet.clone(), tell))
                } else {
                    tokio::spawn(read_partial(run, extent, tell))
                };
                task.abort_handle()
            });
        }
    }
}

/// Reads the partial messages of a run until its owner sends no more.
async fn read_partial(run: IndexedRun, extent: Extent, tell: mpsc::Sender<Message>) {
    let Some(socket) = &run.owner.socket else {
        return;
    };
    // Without it everything is seen too, only later.
    let Ok(mut stream) = PartialStream::begin(socket, run.run.as_str(), extent).await else {
        return;
    };
    while let Some(message) = stream.next().await {
        let grown = Message::Partial(run.run.clone(), message);
        if tell.send(grown).await.is_err() {
            return;
        }
    }
}

/// Reads the partial messages of a run that a worker does, until nobody wants them any more.
async fn read_from_fleet(run: IndexedRun, fleet: FleetWords, tell: mpsc::Sender<Message>) {
    // Without them everything is seen too, only later.
    let Some(mut words) = fleet.listen_to(&run.run).await else {
        return;
    };
    loop {
        let (run, message) = words.next().await;
        if tell.send(Message::Partial(run, message)).await.is_err() {
            return;
        }
    }
}

/// Sends a message to the child of a run, and returns a notice about the outcome.
pub(super) async fn steer(run: IndexedRun, message: String) -> Notice {
    match request(&run, Want::Steer { message }).await {
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
pub(super) async fn stop(store: Store, run: IndexedRun) -> Notice {
    match stop_run(&store, &run).await {
        Ok(_) => Notice::new(
            Role::Success,
            format!("{} was stopped, and all its processes are gone.", run.name),
        ),
        Err(error) => Notice::new(Role::Failed, error.to_answer()),
    }
}
