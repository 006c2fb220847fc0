//! A run that the queue has handed to this worker.

use std::time::Duration;

use async_nats::{HeaderMap, Message};
use bytes::Bytes;
use pi_subagents_vocabulary::{Priority, RunId};

use crate::connect::Fleet;
use crate::error::FleetError;
use crate::heartbeat::Heartbeat;
use crate::lease::Lease;

/// The header of an order that was given again: the number of the last delivery before.
pub(crate) const AFTER: &str = "Pi-After";

/// A larger number of deliveries cannot be meant.
const MOST_DELIVERIES: u64 = 1 << 40;

/// One hand-over of a run to this worker. Its signs of life have begun; they end when it is
/// dropped, and then the queue hands the run to another worker after the lease.
#[derive(Debug)]
pub struct Delivery {
    pub(crate) fleet: Fleet,
    pub(crate) run: RunId,
    pub(crate) n: u64,
    pub(crate) ack: String,
    pub(crate) heartbeat: Heartbeat,
    pool: String,
    priority: Priority,
    payload: Bytes,
    headers: HeaderMap,
}

impl Delivery {
    /// Reads a message of the queue, and begins with its signs of life.
    pub(crate) fn of(fleet: &Fleet, message: Message, lease: Lease) -> Option<Self> {
        let ack = message.reply.as_ref()?.to_string();
        let headers = message.headers.unwrap_or_default();
        let n = deliveries_before(&headers) + delivery_number(&ack)?;
        let rest = message.subject.strip_prefix(&fleet.names().subjects())?;
        let mut tokens = rest.strip_prefix("work.")?.split('.');
        let (pool, priority, run) = (tokens.next()?, tokens.next()?, tokens.next()?);
        Some(Self {
            fleet: fleet.clone(),
            run: RunId::parse(run).ok()?,
            n,
            heartbeat: Heartbeat::begin(fleet.clone(), ack.clone(), lease),
            ack,
            pool: pool.to_owned(),
            priority: Priority::from_word(priority)?,
            payload: message.payload,
            headers,
        })
    }

    /// Returns the run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns the number of this delivery.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Returns the pool it came through.
    pub fn pool(&self) -> &str {
        &self.pool
    }

    /// Returns how urgent it is.
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// Returns the order as it was submitted.
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// Returns the headers of the order.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Gives the run back to the queue, which hands it out again after a while. It must not be
    /// claimed.
    pub async fn give_back(self, after: Duration) -> Result<(), FleetError> {
        give_back(&self.fleet, &self.ack, after).await
    }
}

/// Takes the message of a run that has ended out of the queue. Nobody waits for a confirmation: a
/// message whose acknowledgement is lost comes again after the lease, its run is found ended, and it
/// is acknowledged then.
pub(crate) async fn acknowledge(fleet: &Fleet, ack: &str) {
    let word = Bytes::from_static(b"+ACK");
    if let Err(error) = fleet.inner.client.publish(ack.to_owned(), word).await {
        tracing::debug!("fleet: a message could not be acknowledged: {error}");
    }
}

/// Gives a message back to the queue.
pub(crate) async fn give_back(fleet: &Fleet, ack: &str, after: Duration) -> Result<(), FleetError> {
    let word = match after.as_nanos() {
        0 => "-NAK".to_owned(),
        nanoseconds => format!("-NAK {{\"delay\": {nanoseconds}}}"),
    };
    fleet.ask(ack, None, word.into()).await.map(drop)
}

/// Reads the number of deliveries that a run had before its order was given again; 0 if its order
/// was given once, or if the number makes no sense.
fn deliveries_before(headers: &HeaderMap) -> u64 {
    let after = headers
        .get(AFTER)
        .and_then(|after| after.as_str().parse().ok());
    after.filter(|after| *after <= MOST_DELIVERIES).unwrap_or(0)
}

/// Reads the number of a delivery from the subject that takes its acknowledgement. Older servers
/// name neither domain nor account before the stream.
fn delivery_number(ack: &str) -> Option<u64> {
    let tokens: Vec<&str> = ack.strip_prefix("$JS.ACK.")?.split('.').collect();
    let at = if tokens.len() >= 9 { 4 } else { 2 };
    tokens.get(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_delivery_stands_in_its_acknowledgement() {
        let numbers = [
            "$JS.ACK.PI_WORK.default-high.3.17.20.1700000000000000000.0",
            "$JS.ACK._.hash.PI_WORK.default-high.3.17.20.1700000000000000000.0",
            "$JS.ACK._.hash.PI_WORK.default-high.3.17.20.1700000000000000000.0.token",
            "$JS.ACK.PI_WORK",
            "_INBOX.a",
        ];
        let read = numbers.map(delivery_number);
        assert_eq!(read, [Some(3), Some(3), Some(3), None, None]);
    }
}
