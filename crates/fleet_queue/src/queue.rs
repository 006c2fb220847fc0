//! The queue as a caller sees it: orders go in, and can be taken out again.

use std::time::Duration;

use async_nats::{HeaderMap, header};
use bytes::Bytes;
use jiff::Timestamp;
use pi_subagents_vocabulary::{Priority, RunId};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::connect::Fleet;
use crate::delivery::AFTER;
use crate::error::FleetError;
use crate::names::{Names, check_name};
use crate::steps::{Step, reached};

/// The code of the error of a stream that takes no more.
const STREAM_IS_FULL: u64 = 10077;

/// The number of times that a submission is tried while the servers do not answer.
const TRIES: u32 = 10;

/// The time between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// An order on its way into the queue.
#[derive(Debug, Clone)]
pub struct Submission<'a> {
    /// The run it becomes. A run is in the queue once, however often it is submitted.
    pub run: &'a RunId,
    /// The pool whose workers may take it.
    pub pool: &'a str,
    /// The urgency of the order.
    pub priority: Priority,
    /// The order as JSON.
    pub payload: Bytes,
    /// Further headers, such as a signature.
    pub headers: HeaderMap,
    /// Set if the order is given again because the queue has lost it.
    pub again: Option<Again>,
}

/// The facts about an order that is given again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Again {
    /// The number of this attempt. It is part of the message's id, because a server drops a message
    /// for minutes whose id it has seen.
    pub attempt: u32,
    /// The number of the last delivery that is known. The next ones are counted on from it, so that
    /// they may take the run from the worker in its entry.
    pub after: u64,
}

/// The outcome of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// The order is in the queue.
    New,
    /// It was there already.
    Already,
}

/// The work of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PoolLoad {
    /// The pool's name.
    pub pool: String,
    /// The number of runs that wait for a worker.
    pub queued: u64,
    /// The number of runs that workers have.
    pub running: u64,
    /// The number of workers that ask for runs at the moment.
    pub asking: u64,
    /// The time for which the oldest of the runs has waited that no worker has taken yet.
    pub oldest: Option<Duration>,
}

impl Fleet {
    /// Puts an order into the queue. A caller that does not learn whether the order is there may
    /// submit it again.
    pub async fn submit(&self, submission: &Submission<'_>) -> Result<Submitted, FleetError> {
        check_name("pool", submission.pool)?;
        reached(Step::Ordering);
        let mut tries = 0;
        loop {
            tries += 1;
            match self.submit_once(submission).await {
                Err(error) if error.is_passing() && tries < TRIES => sleep(PAUSE).await,
                other => return other,
            }
        }
    }

    async fn submit_once(&self, submission: &Submission<'_>) -> Result<Submitted, FleetError> {
        let names = self.names();
        let subject = names.work(submission.pool, submission.priority, submission.run);
        let mut headers = submission.headers.clone();
        headers.insert(header::NATS_MESSAGE_ID, message_id(submission).as_str());
        if let Some(again) = submission.again {
            headers.insert(AFTER, again.after.to_string());
        }
        let payload = submission.payload.clone();
        match self
            .publish(&subject, &names.work_stream(), headers, payload)
            .await
        {
            Ok(receipt) if receipt.is_duplicate => Ok(Submitted::Already),
            Ok(_) => Ok(Submitted::New),
            Err(FleetError::Refused {
                code: STREAM_IS_FULL,
                said,
                ..
            }) if said.contains("per subject") => Ok(Submitted::Already),
            Err(error) => Err(error),
        }
    }

    /// Returns whether the order of a run is in the queue, taken by a worker or not.
    pub async fn is_queued(&self, run: &RunId) -> Result<bool, FleetError> {
        self.has_subject(&self.names().work_stream(), &self.any_work(run))
            .await
    }

    /// Returns whether a stream has messages of subjects, as its leader knows it: another server may
    /// lag behind.
    pub(crate) async fn has_subject(&self, stream: &str, filter: &str) -> Result<bool, FleetError> {
        let subject = format!("$JS.API.STREAM.INFO.{stream}");
        let question = json!({"subjects_filter": filter}).to_string();
        let info = self.ask_server(&subject, question.into()).await?;
        let subjects = info["state"]["subjects"].as_object();
        Ok(subjects.is_some_and(|subjects| !subjects.is_empty()))
    }

    /// Returns whether a stream has a leader, so that values can be written.
    pub(crate) async fn has_leader(&self, stream: &str) -> bool {
        let subject = format!("$JS.API.STREAM.INFO.{stream}");
        self.ask_server(&subject, Bytes::new()).await.is_ok()
    }

    /// Takes the order of a run out of the queue, if it is there.
    pub(crate) async fn withdraw(&self, run: &RunId) -> Result<(), FleetError> {
        let subject = format!("$JS.API.STREAM.PURGE.{}", self.names().work_stream());
        let question = json!({"filter": self.any_work(run)}).to_string();
        self.ask_server(&subject, question.into()).await.map(drop)
    }

    fn any_work(&self, run: &RunId) -> String {
        format!("{}work.*.*.{}", self.names().subjects(), run.as_str())
    }

    /// Returns the names of the pools that are set up.
    pub async fn pool_names(&self) -> Result<Vec<String>, FleetError> {
        let subject = format!("$JS.API.CONSUMER.NAMES.{}", self.names().work_stream());
        let mut pools = Vec::new();
        let mut offset = 0;
        loop {
            let question = json!({"offset": offset}).to_string();
            let answer = self.ask_server(&subject, question.into()).await?;
            let names: Vec<&str> = strings(&answer["consumers"]);
            let normal = names.iter().filter_map(|name| name.strip_suffix("-normal"));
            pools.extend(normal.map(str::to_owned));
            offset += names.len();
            let total = answer["total"].as_u64().unwrap_or_default();
            if names.is_empty() || offset as u64 >= total {
                break;
            }
        }
        pools.sort();
        Ok(pools)
    }

    /// Returns the load of a pool.
    pub async fn pool_load(&self, pool: &str) -> Result<PoolLoad, FleetError> {
        let mut load = PoolLoad {
            pool: pool.to_owned(),
            ..PoolLoad::default()
        };
        for priority in Priority::ALL {
            let info = self.consumer(pool, priority).await?;
            let number = |name: &str| info[name].as_u64().unwrap_or_default();
            load.queued += number("num_pending");
            load.running += number("num_ack_pending");
            // A worker asks for all priorities at once.
            load.asking = load.asking.max(number("num_waiting"));
            if number("num_pending") > 0 {
                let taken = info["delivered"]["stream_seq"].as_u64().unwrap_or_default();
                let filter = self.names().work_of(pool, priority);
                let waited = self.waiting_since(&filter, taken + 1).await;
                load.oldest = load.oldest.max(waited);
            }
        }
        Ok(load)
    }

    /// Returns for how long the first of some orders has been in the queue, from a place on. It is
    /// `None` if the order was taken meanwhile, or if our key may not look at orders.
    async fn waiting_since(&self, filter: &str, from: u64) -> Option<Duration> {
        let subject = format!("$JS.API.DIRECT.GET.{}", self.names().work_stream());
        let question = json!({"seq": from, "next_by_subj": filter}).to_string();
        let answer = self.ask(&subject, None, question.into()).await.ok()?;
        let at = answer.headers?.get("Nats-Time-Stamp")?.to_string();
        let at: Timestamp = at.parse().ok()?;
        Timestamp::now().duration_since(at).try_into().ok()
    }

    /// Returns the load of all pools.
    pub async fn pools(&self) -> Result<Vec<PoolLoad>, FleetError> {
        let mut loads = Vec::new();
        for pool in self.pool_names().await? {
            loads.push(self.pool_load(&pool).await?);
        }
        Ok(loads)
    }

    /// Returns the server's facts about the queue of a pool and a priority.
    pub(crate) async fn consumer(
        &self,
        pool: &str,
        priority: Priority,
    ) -> Result<Value, FleetError> {
        let consumer = Names::consumer(pool, priority);
        let subject = format!(
            "$JS.API.CONSUMER.INFO.{}.{consumer}",
            self.names().work_stream()
        );
        self.ask_server(&subject, Bytes::new()).await
    }
}

/// Returns the id of the message of an order.
fn message_id(submission: &Submission<'_>) -> String {
    let run = submission.run.as_str();
    match submission.again {
        None => run.to_owned(),
        Some(Again { attempt, after }) => format!("{run}.{after}.{attempt}"),
    }
}

fn strings(value: &Value) -> Vec<&str> {
    let values = value.as_array().map(Vec::as_slice).unwrap_or_default();
    values.iter().filter_map(Value::as_str).collect()
}
