//! The streams, buckets and consumers of a fleet, with exactly the settings that its rules rely on.
//! Setting a fleet up again changes only the differences.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PriorityPolicy, pull};
use async_nats::jetstream::stream::{
    Compression, Config, DiscardPolicy, RetentionPolicy, StorageType,
};
use bytes::Bytes;
use pi_subagents_vocabulary::Priority;
use serde_json::json;

use crate::connect::Fleet;
use crate::error::{FleetError, MissingPart};
use crate::names::{GROUP, Names, check_name};

const DAY: Duration = Duration::from_hours(24);
const LARGEST_MESSAGE: i32 = 512 * 1024;
const MANY_CONSUMERS: i32 = 100_000;

/// The settings of a fleet that somebody chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The pools; each has three queues.
    pub pools: Vec<String>,
    /// The number of servers on which everything is kept: 1 or 3.
    pub replicas: usize,
    /// The time after which a silent worker loses its run.
    pub lease: Duration,
    /// The largest number of bytes of records that are kept.
    pub record_bytes: u64,
    /// The largest number of bytes of objects that are kept; `None` for no limit of their own.
    pub object_bytes: Option<u64>,
    /// The time for which records and objects are kept.
    pub keep: Duration,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            pools: vec!["default".to_owned()],
            replicas: 1,
            lease: Duration::from_mins(1),
            record_bytes: 20_000_000_000,
            object_bytes: None,
            keep: 7 * DAY,
        }
    }
}

impl Fleet {
    /// Makes or updates everything that a fleet of this shape needs.
    pub async fn set_up(&self, shape: &Shape) -> Result<(), FleetError> {
        for pool in &shape.pools {
            check_name("pool", pool)?;
        }
        for config in streams(self.names(), shape) {
            self.make_stream(&config).await?;
        }
        let work = self.names().work_stream();
        for config in consumers(self.names(), shape) {
            let name = config.durable_name.as_deref().unwrap_or_default();
            let subject = format!("$JS.API.CONSUMER.DURABLE.CREATE.{work}.{name}");
            let wanted = json!({"stream_name": work, "config": config});
            self.ask_server(&subject, wanted.to_string().into()).await?;
        }
        Ok(())
    }

    /// Makes a stream, or updates it if it is there.
    async fn make_stream(&self, config: &Config) -> Result<(), FleetError> {
        let name = &config.name;
        let info = format!("$JS.API.STREAM.INFO.{name}");
        let verb = match self.ask_server(&info, Bytes::new()).await {
            Ok(_) => "UPDATE",
            Err(FleetError::NotSetUp { .. }) => "CREATE",
            Err(error) => return Err(error),
        };
        let subject = format!("$JS.API.STREAM.{verb}.{name}");
        let wanted = json!(config).to_string();
        self.ask_server(&subject, wanted.into()).await.map(drop)
    }

    /// Returns the parts that a fleet with these pools needs and does not have.
    pub async fn missing(&self, pools: &[String]) -> Result<Vec<MissingPart>, FleetError> {
        let shape = Shape {
            pools: pools.to_vec(),
            ..Shape::default()
        };
        let mut missing = Vec::new();
        let work = self.names().work_stream();
        let streams = streams(self.names(), &shape).into_iter();
        let subjects = streams.map(|config| format!("$JS.API.STREAM.INFO.{}", config.name));
        let consumers = consumers(self.names(), &shape).into_iter();
        let consumers = consumers.map(|config| {
            let name = config.durable_name.unwrap_or_default();
            format!("$JS.API.CONSUMER.INFO.{work}.{name}")
        });
        for subject in subjects.chain(consumers) {
            match self.ask_server(&subject, Bytes::new()).await {
                Ok(_) => {}
                Err(FleetError::NotSetUp { what }) => missing.push(what),
                Err(error) => return Err(error),
            }
        }
        Ok(missing)
    }
}

/// Returns the streams of a fleet, including those behind its buckets.
fn streams(names: &Names, shape: &Shape) -> Vec<Config> {
    vec![
        work(names, shape),
        records(names, shape),
        Config {
            max_messages_per_subject: 8,
            max_age: 30 * DAY,
            ..bucket(names.runs().name(), shape)
        },
        bucket(names.leases().name(), shape),
        bucket(names.workers().name(), shape),
        Config {
            max_messages_per_subject: 4,
            ..bucket(names.sessions().name(), shape)
        },
        objects(names, shape),
    ]
}

fn work(names: &Names, shape: &Shape) -> Config {
    Config {
        name: names.work_stream(),
        subjects: vec![names.all_work()],
        retention: RetentionPolicy::WorkQueue,
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        discard_new_per_subject: true,
        duplicate_window: Duration::from_mins(10),
        max_age: 14 * DAY,
        max_consumers: 10_000,
        ..stream(shape)
    }
}

fn records(names: &Names, shape: &Shape) -> Config {
    Config {
        name: names.record_stream(),
        subjects: vec![names.all_records()],
        max_bytes: signed(shape.record_bytes),
        discard: DiscardPolicy::Old,
        max_age: shape.keep,
        compression: Some(Compression::S2),
        ..stream(shape)
    }
}

/// Returns the stream behind a bucket of keys and values, as every client makes it.
fn bucket(name: &str, shape: &Shape) -> Config {
    Config {
        name: format!("KV_{name}"),
        subjects: vec![format!("$KV.{name}.>")],
        max_messages_per_subject: 1,
        discard: DiscardPolicy::New,
        allow_rollup: true,
        deny_delete: true,
        allow_message_ttl: true,
        subject_delete_marker_ttl: Some(Duration::from_hours(1)),
        max_message_size: -1,
        ..stream(shape)
    }
}

/// Returns the stream behind a bucket of objects, as every client makes it.
fn objects(names: &Names, shape: &Shape) -> Config {
    let name = names.blobs();
    Config {
        name: format!("OBJ_{name}"),
        subjects: vec![format!("$O.{name}.C.>"), format!("$O.{name}.M.>")],
        discard: DiscardPolicy::New,
        allow_rollup: true,
        max_age: shape.keep,
        max_bytes: shape.object_bytes.map_or(-1, signed),
        max_message_size: -1,
        ..stream(shape)
    }
}

fn stream(shape: &Shape) -> Config {
    Config {
        storage: StorageType::File,
        num_replicas: shape.replicas,
        max_message_size: LARGEST_MESSAGE,
        max_consumers: MANY_CONSUMERS,
        allow_direct: true,
        max_bytes: -1,
        max_messages: -1,
        max_messages_per_subject: -1,
        ..Config::default()
    }
}

fn consumers(names: &Names, shape: &Shape) -> Vec<pull::Config> {
    let consumer = |pool: &str, priority: Priority| pull::Config {
        durable_name: Some(Names::consumer(pool, priority)),
        filter_subject: names.work_of(pool, priority),
        ack_policy: AckPolicy::Explicit,
        ack_wait: shape.lease,
        max_deliver: -1,
        max_ack_pending: 10_000,
        max_waiting: 10_000,
        priority_policy: PriorityPolicy::Prioritized,
        priority_groups: vec![GROUP.to_owned()],
        ..pull::Config::default()
    };
    let pools = shape.pools.iter();
    pools
        .flat_map(|pool| Priority::ALL.map(|priority| consumer(pool, priority)))
        .collect()
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_made_as_the_design_page_says() {
        let names = Names::new("pi").unwrap();
        let shape = Shape::default();
        let text = |value: serde_json::Value| serde_json::to_string_pretty(&value).unwrap();
        let streams = streams(&names, &shape);
        let consumers = consumers(&names, &shape);
        let shown = serde_json::json!({"streams": streams, "consumers": consumers});
        insta::assert_snapshot!(text(shown));
    }
}
