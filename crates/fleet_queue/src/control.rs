//! Requests to the process that runs a run, and their answers. The app decides what they mean.

use std::time::Duration;

use async_nats::{Client, Message, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use pi_subagents_vocabulary::RunId;

use crate::connect::Fleet;
use crate::error::FleetError;
use crate::names::check_name;
use crate::wire::{RunEntry, Running};

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// The process that runs the run has answered.
    Answered(Bytes),
    /// Nobody runs it at the moment.
    NobodyThere,
    /// Somebody runs it and has not answered in time, or the servers cannot be reached.
    Silent,
    /// Our key does not permit to ask.
    NotAllowed(FleetError),
}

impl Fleet {
    /// Asks the worker that the entry of a run names, and waits at most `patience` for the answer.
    pub async fn ask_run(&self, run: &RunId, request: Bytes, patience: Duration) -> Asked {
        let seen = match self.look_at_entry(run).await {
            Ok(seen) => seen.value,
            Err(error @ FleetError::NotAllowed { .. }) => return Asked::NotAllowed(error),
            Err(_) => return Asked::Silent,
        };
        match seen.state() {
            Some(RunEntry::Running(Running { worker, .. })) => {
                self.ask_worker(worker, run, request, patience).await
            }
            // It keeps the record for a while.
            Some(RunEntry::Ended(ended)) if !ended.worker.is_empty() => {
                self.ask_worker(&ended.worker, run, request, patience).await
            }
            Some(RunEntry::Released(_) | RunEntry::Ended(_)) | None => Asked::NobodyThere,
        }
    }

    /// Asks a worker about a run, and waits at most `patience` for the answer.
    pub(crate) async fn ask_worker(
        &self,
        worker: &str,
        run: &RunId,
        request: Bytes,
        patience: Duration,
    ) -> Asked {
        if check_name("worker", worker).is_err() {
            // The name comes from an entry that anybody in the fleet can write.
            return Asked::NobodyThere;
        }
        let subject = self.names().control(worker, run);
        match self.ask_within(&subject, None, request, patience).await {
            Ok(answer) => Asked::Answered(answer.payload),
            Err(FleetError::Nobody { .. }) => Asked::NobodyThere,
            Err(error @ FleetError::NotAllowed { .. }) => Asked::NotAllowed(error),
            Err(_) => Asked::Silent,
        }
    }

    /// Takes the requests about a run from now on, as the worker whose name this connection has.
    pub async fn subscribe_run(&self, run: &RunId) -> Result<Requests, async_nats::SubscribeError> {
        Ok(Requests {
            subscriber: self
                .inner
                .client
                .subscribe(self.names().control(&self.inner.name, run))
                .await?,
            client: self.inner.client.clone(),
        })
    }
}

/// The requests about one run.
#[derive(Debug)]
pub struct Requests {
    subscriber: Subscriber,
    client: Client,
}

/// One request.
#[derive(Debug)]
pub struct Request {
    message: Message,
    client: Client,
}

impl Requests {
    /// Waits for the next request; `None` when no more can come.
    pub async fn next(&mut self) -> Option<Request> {
        let message = self.subscriber.next().await?;
        Some(Request {
            message,
            client: self.client.clone(),
        })
    }
}

impl Request {
    /// Returns the content of the request.
    pub fn bytes(&self) -> &[u8] {
        &self.message.payload
    }

    /// Answers it.
    pub async fn answer(self, answer: Bytes) {
        if let Some(reply) = self.message.reply {
            // The asker may have left; a server that is away has forgotten the question too.
            _ = self.client.publish(reply, answer).await;
        }
    }
}
