//! Gives the orders of a call to the fleet.

use std::time::Duration;

use bytes::Bytes;
use pi_subagents_fleet_queue::names::order_object;
use pi_subagents_fleet_queue::wire::{self, CallerCard, Conversation, Order, RunCard};
use pi_subagents_fleet_queue::{CallerLease, begins};
use pi_subagents_vocabulary::{RunId, Task, Timestamp};
use serde_json::json;
use tracing::warn;

use super::departure::FleetDeparture;
use super::sent_files::SentFiles;
use crate::runs::GivenOrder;
use crate::runs::connection::unreachable;
use pi_subagents_calls::elsewhere::Waiting;
use pi_subagents_ground::error::CommandError;

/// A longer order travels as an object, and its message names it.
const LONGEST_MESSAGE: usize = 256 << 10;

/// More of a prompt is not on the card of its run.
const LONGEST_ASKED: usize = 4096;

/// The time that it may take to find out whether there is a worker.
const LOOK: Duration = Duration::from_secs(3);

impl FleetDeparture {
    /// Begins the lease of a caller who waits for the runs of the call, if somebody waits.
    pub(super) async fn lease(&self) -> Result<Option<CallerLease>, CommandError> {
        if self.call.waiting == Waiting::Nobody {
            return Ok(None);
        }
        let card = CallerCard {
            caller: self.call.caller.clone(),
            since: Timestamp::now().to_string(),
        };
        let time = self.settings().caller_lease;
        let lease = self.fleet.caller_lease(&self.call.id, &card, time).await;
        lease.map(Some).map_err(unreachable)
    }

    /// Puts an order into the queue of its pool, signed with the caller's key if they have one.
    pub(super) async fn submit(
        &self,
        run: &RunId,
        order: &Order,
    ) -> Result<GivenOrder, CommandError> {
        let content = serde_json::to_vec(order)
            .map_err(|error| CommandError::failed("the order cannot be written").because(&error))?;
        let headers = self.fleet.signature(&content).map_err(unreachable)?;
        let payload = if content.len() > LONGEST_MESSAGE {
            let name = order_object(run);
            let sent = self.fleet.blobs().put_bytes(&name, content.into()).await;
            sent.map_err(|error| {
                CommandError::failed("the order could not be sent").because(&error)
            })?;
            Bytes::from(json!({"object": name}).to_string())
        } else {
            Bytes::from(content)
        };
        let given = GivenOrder {
            pool: self.call.destination.pool.clone(),
            priority: self.call.destination.priority,
            payload,
            headers,
        };
        given
            .give(&self.fleet, run, None)
            .await
            .map_err(unreachable)?;
        Ok(given)
    }

    /// Writes the card of a run, so that it is found from other machines. Without it the run is
    /// found here only.
    pub(super) async fn put_card(&self, task: &Task, order: &Order) {
        let card = RunCard {
            session: order.session.clone(),
            name: order.name.clone(),
            caller: order.caller.clone(),
            asked: order.asked.chars().take(LONGEST_ASKED).collect(),
            pool: self.call.destination.pool.clone(),
            definition: order.definition.as_ref().map(|used| used.name.clone()),
            agent: match &order.conversation {
                Conversation::Sticky(sticky) => Some(sticky.agent.clone()),
                Conversation::Fresh => None,
            },
            repository: self.files_of(&task.cwd).and_then(SentFiles::repository_id),
            inside: order.relative_cwd.clone(),
            begins: begins(&order.workspace),
            directory: task.cwd.display().to_string(),
            has_schema: order.work.schema().is_some(),
            sandbox: order.work.sandbox.clone(),
            background: order.lease.is_none(),
            issued: order.issued.clone(),
        };
        if let Err(error) = self.fleet.put_card(&task.run, &card).await {
            warn!(run = %task.run, %error, "card of a run cannot be written");
        }
    }

    /// Says why the runs stay queued for now, if no worker takes runs of the pool.
    pub(super) async fn why_queued(&self) -> Option<String> {
        let pool = &self.call.destination.pool;
        let workers = tokio::time::timeout(LOOK, self.fleet.workers()).await;
        let workers = workers.ok()?.ok()?;
        let takes = |card: &wire::WorkerCard| card.pools.iter().any(|one| one == pool);
        if workers.iter().any(|(_, card)| takes(card)) {
            return None;
        }
        Some(format!(
            "no worker is in pool {pool}; the run is queued until one comes (pi-subagents fleet work --pool {pool})"
        ))
    }
}
