//! Gets runs for a worker: it asks for as many as it has places, the urgent ones first.
//!
//! A request that was sent is never forgotten before its end, because the server may already have
//! answered it, and the run that it sent would lie unnoticed for a whole lease. So requests live in
//! tasks of their own, and a caller may stop waiting for runs at any moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::{Message, StatusCode};
use futures_util::StreamExt as _;
use pi_subagents_vocabulary::Priority;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::connect::Fleet;
use crate::delivery::{Delivery, give_back};
use crate::error::FleetError;
use crate::lease::Lease;
use crate::names::{GROUP, Names, check_name};
use crate::places::Places;

/// The time for which a request waits for runs.
const LONG: Duration = Duration::from_secs(5);

/// The time for which we wait for an answer beyond the time of its request.
const GRACE: Duration = Duration::from_secs(3);

/// A worker's way to the queues of its pools.
#[derive(Debug)]
pub struct Puller {
    fleet: Fleet,
    lease: Lease,
    rank: u8,
    queues: Vec<Arc<Queue>>,
    arrived: mpsc::UnboundedReceiver<Delivery>,
    arrivals: mpsc::UnboundedSender<Delivery>,
    places: Arc<Places>,
    /// The number of runs that were handed to the worker since the beginning.
    taken: usize,
    /// The questions for present runs that are under way. Somebody who stopped waiting for them
    /// comes back to them: to ask again would bring runs for which there is no place.
    asking: Option<JoinHandle<Result<(), FleetError>>>,
}

/// The queue of one pool and one priority.
#[derive(Debug)]
struct Queue {
    /// The subject for requests.
    subject: String,
    /// This is true while a long request is on its way.
    is_waiting: AtomicBool,
}

impl Fleet {
    /// Makes a worker's way to the queues of pools. If two workers wait, the one with the lower
    /// rank gets a run.
    pub async fn puller(&self, pools: &[String], rank: u8) -> Result<Puller, FleetError> {
        let mut lease = Duration::MAX;
        let mut queues = Vec::new();
        for priority in Priority::ALL {
            for pool in pools {
                check_name("pool", pool)?;
                let info = self.consumer(pool, priority).await?;
                lease = lease.min(ack_wait(&info)?);
                let (stream, consumer) =
                    (self.names().work_stream(), Names::consumer(pool, priority));
                queues.push(Arc::new(Queue {
                    subject: format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"),
                    is_waiting: AtomicBool::new(false),
                }));
            }
        }
        let (arrivals, arrived) = mpsc::unbounded_channel();
        Ok(Puller {
            fleet: self.clone(),
            lease: Lease { length: lease },
            rank,
            queues,
            arrived,
            arrivals,
            places: Arc::default(),
            taken: 0,
            asking: None,
        })
    }
}

impl Fleet {
    /// Returns the time for which runs are lent to workers, as the fleet was set up.
    pub async fn lease(&self) -> Result<Duration, FleetError> {
        let pool = self.pool_names().await?.into_iter().next();
        let pool = pool.unwrap_or_else(|| "default".to_owned());
        ack_wait(&self.consumer(&pool, Priority::Normal).await?)
    }
}

impl Puller {
    /// Returns the lease of the runs, as the fleet was set up.
    pub fn lease(&self) -> Lease {
        self.lease
    }

    /// Returns runs, at most as many as there are free places. If there are none, it waits for some
    /// seconds and returns an empty list. It may be dropped while it waits.
    pub async fn pull(&mut self, free: usize) -> Result<Vec<Delivery>, FleetError> {
        self.places.offer(self.taken, free);
        let mut taken = self.take(free);
        if taken.is_empty() && free > 0 {
            self.ask_all_at_once().await?;
            taken = self.take(free);
        }
        if taken.is_empty() && free > 0 {
            self.ask_for_long();
            if let Ok(Some(first)) = timeout(LONG, self.arrived.recv()).await {
                self.taken += 1;
                taken.push(first);
                taken.extend(self.take(free - 1));
            }
        }
        Ok(taken)
    }

    /// Takes nothing more: runs that still arrive are given back. It takes some seconds.
    pub async fn stop(mut self) {
        self.places.offer(0, 0);
        drop(self.arrivals);
        // The last request that is on its way drops the last sender.
        while let Some(delivery) = self.arrived.recv().await {
            hand_back(delivery).await;
        }
    }

    fn take(&mut self, most: usize) -> Vec<Delivery> {
        let next = || self.arrived.try_recv().ok();
        let taken: Vec<Delivery> = std::iter::from_fn(next).take(most).collect();
        self.taken += taken.len();
        taken
    }

    /// Asks the queues one after the other for their present runs, the urgent ones first. The
    /// questions are on a task of their own, because this may be dropped.
    async fn ask_all_at_once(&mut self) -> Result<(), FleetError> {
        let asking = self.asking.take().unwrap_or_else(|| {
            let ask = |queue: &Arc<Queue>| {
                let request = self.request(json!({"no_wait": true}), GRACE);
                (request, Arc::clone(queue))
            };
            tokio::spawn(ask_in_order(self.queues.iter().map(ask).collect()))
        });
        let outcome = self.asking.insert(asking).await;
        self.asking = None;
        outcome.unwrap_or_else(|error| {
            tracing::debug!("fleet: a request for runs was given up: {error}");
            Ok(())
        })
    }

    /// Asks all queues that are not asked yet for the next run that comes.
    fn ask_for_long(&mut self) {
        for queue in &self.queues {
            if queue.is_waiting.swap(true, Ordering::SeqCst) {
                continue;
            }
            let wait = json!({"batch": 1, "expires": u64::try_from(LONG.as_nanos()).unwrap_or(0)});
            let request = self.request(wait, LONG + GRACE);
            let queue = Arc::clone(queue);
            tokio::spawn(async move {
                if let Err(error) = request.send(Arc::clone(&queue)).await {
                    tracing::debug!("fleet: a request for runs failed: {error}");
                }
                queue.is_waiting.store(false, Ordering::SeqCst);
            });
        }
    }

    fn request(&self, mut body: Value, within: Duration) -> PullRequest {
        body["group"] = json!(GROUP);
        body["priority"] = json!(self.rank);
        PullRequest {
            fleet: self.fleet.clone(),
            lease: self.lease,
            body,
            within,
            arrivals: self.arrivals.clone(),
            places: Arc::clone(&self.places),
        }
    }
}

/// Asks queues one after the other for as many runs as there are places.
async fn ask_in_order(questions: Vec<(PullRequest, Arc<Queue>)>) -> Result<(), FleetError> {
    for (mut request, queue) in questions {
        let left = request.places.left();
        if left == 0 {
            break;
        }
        request.body["batch"] = json!(left);
        request.send(queue).await?;
    }
    Ok(())
}

/// One request for runs.
struct PullRequest {
    fleet: Fleet,
    lease: Lease,
    body: Value,
    within: Duration,
    arrivals: mpsc::UnboundedSender<Delivery>,
    places: Arc<Places>,
}

impl PullRequest {
    /// Sends the request and takes in the runs that come, until its end.
    async fn send(self, queue: Arc<Queue>) -> Result<(), FleetError> {
        let taking = self.take_all(&queue);
        let named = format!("\"{}\"", queue.subject);
        self.fleet.unless_refused(&named, taking).await?
    }

    async fn take_all(&self, queue: &Queue) -> Result<(), FleetError> {
        let client = &self.fleet.inner.client;
        let not_sent = |why: String| FleetError::NotSent {
            subject: queue.subject.clone(),
            why,
        };
        if self.fleet.when_connected(GRACE).await.is_none() {
            return Err(not_sent("there is no connection".to_owned()));
        }
        let inbox = client.new_inbox();
        let answers = client.subscribe(inbox.clone()).await;
        let mut answers = answers.map_err(|error| not_sent(error.to_string()))?;
        let body = self.body.to_string().into();
        let sent = client
            .publish_with_reply(queue.subject.clone(), inbox, body)
            .await;
        sent.map_err(|error| not_sent(error.to_string()))?;
        let mut left = self.body["batch"].as_u64().unwrap_or(1);
        let mut extra = JoinSet::new();
        let end = tokio::time::Instant::now() + self.within;
        while left > 0 {
            let message = tokio::select! {
                message = answers.next() => message,
                () = tokio::time::sleep_until(end) => None,
            };
            let Some(message) = message else {
                break;
            };
            match message.status {
                None | Some(StatusCode::OK) => {
                    left -= 1;
                    self.take_in(message, &mut extra);
                }
                Some(StatusCode::IDLE_HEARTBEAT) => {}
                Some(StatusCode::NO_RESPONDERS) => {
                    return Err(FleetError::Nobody {
                        subject: queue.subject.clone(),
                    });
                }
                // Nothing there, or the time is over.
                Some(_) => break,
            }
        }
        extra.join_all().await;
        Ok(())
    }

    /// Passes a run on, or gives it back if there is no place for it.
    fn take_in(&self, message: Message, extra: &mut JoinSet<()>) {
        let Some(delivery) = Delivery::of(&self.fleet, message, self.lease) else {
            tracing::debug!("fleet: a message in the queue is not an order");
            return;
        };
        let refused = if self.places.let_in() {
            self.arrivals.send(delivery).err().map(|error| error.0)
        } else {
            Some(delivery)
        };
        if let Some(delivery) = refused {
            extra.spawn(hand_back(delivery));
        }
    }
}

async fn hand_back(delivery: Delivery) {
    let run = delivery.run().clone();
    if let Err(error) = give_back(&delivery.fleet, &delivery.ack, Duration::ZERO).await {
        tracing::debug!("fleet: {} could not be given back: {error}", run.as_str());
    }
}

fn ack_wait(info: &Value) -> Result<Duration, FleetError> {
    let nanoseconds = info["config"]["ack_wait"].as_u64();
    nanoseconds
        .map(Duration::from_nanos)
        .ok_or_else(|| FleetError::Strange {
            subject: "$JS.API.CONSUMER.INFO".to_owned(),
            why: "it names no ack_wait".to_owned(),
        })
}
