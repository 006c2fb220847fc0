//! Three servers: the leader is killed, then all of them, in the middle of 200 runs.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use pi_subagents_fleet_queue::wire::RunEntry;
use pi_subagents_fleet_queue::{Address, Fleet, Shape, Submission};
use pi_subagents_testkit::fleet::NatsCluster;
use pi_subagents_vocabulary::Priority;

use crate::stage::{PATIENCE, WorkerProcess, run_id, shape};

const RUNS: usize = 200;

/// Waits until so many runs have ended; while servers are away nothing is known.
async fn ended(fleet: &Fleet, many: usize) {
    let reached = async {
        loop {
            let entries = fleet.entries().await.unwrap_or_default();
            let ended = entries
                .values()
                .filter(|entry| matches!(entry, RunEntry::Ended(_)));
            if ended.count() >= many {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE * 2, reached).await.unwrap();
}

/// Tries again while the servers choose a leader.
async fn patiently<T, E: std::fmt::Debug>(mut attempt: impl AsyncFnMut() -> Result<T, E>) -> T {
    let end = tokio::time::Instant::now() + PATIENCE;
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(error) => assert!(tokio::time::Instant::now() < end, "{error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_run_is_lost_and_none_ends_twice_when_the_leader_and_then_all_servers_are_killed() {
    let seed = std::process::id() % 50;
    println!("seed {seed}");
    let mut cluster = NatsCluster::start();
    let mut address = Address::new("", "ada");
    address.servers = cluster.urls();
    let fleet = patiently(async || Fleet::connect(&address).await).await;
    let shape = Shape {
        replicas: 3,
        lease: Duration::from_secs(6),
        ..shape()
    };
    patiently(async || fleet.set_up(&shape).await).await;
    let servers = cluster.urls().join(",");
    let workers = ["first", "second"]
        .map(|name| WorkerProcess::start(&servers, name, 8, Duration::from_millis(100)));
    for worker in &workers {
        worker.wait_for("ready");
    }
    for number in 0..RUNS {
        let submission = Submission {
            run: &run_id(&format!("r{number}")),
            pool: "default",
            priority: Priority::Normal,
            payload: "{}".into(),
            headers: async_nats::HeaderMap::new(),
            again: None,
        };
        fleet.submit(&submission).await.unwrap();
    }
    ended(&fleet, 20 + seed as usize).await;
    cluster.kill(&leader(&address.servers).await);
    ended(&fleet, 100 + seed as usize).await;
    cluster.kill_all();
    cluster.restart_all();
    ended(&fleet, RUNS).await;
    assert_eq!(endings(&address.servers).await, BTreeMap::from([(1, RUNS)]));
}

/// Returns the name of the server that leads the queue.
async fn leader(servers: &[String]) -> String {
    let client = async_nats::connect(servers).await.unwrap();
    let streams = async_nats::jetstream::new(client);
    let stream = streams.get_stream("PI_WORK").await.unwrap();
    let cluster = stream.cached_info().cluster.clone().unwrap();
    cluster.leader.unwrap()
}

/// Counts, over all that was ever written, how many runs have how many endings.
async fn endings(servers: &[String]) -> BTreeMap<usize, usize> {
    let client = async_nats::connect(servers).await.unwrap();
    let streams = async_nats::jetstream::new(client);
    let stream = streams.get_stream("KV_PI_RUNS").await.unwrap();
    let config = async_nats::jetstream::consumer::pull::OrderedConfig::default();
    let all = stream.cached_info().state.messages;
    let mut messages = stream
        .create_consumer(config)
        .await
        .unwrap()
        .messages()
        .await
        .unwrap();
    let mut endings: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..all {
        let message = messages.next().await.unwrap().unwrap();
        let entry: RunEntry = serde_json::from_slice(&message.payload).unwrap();
        let count = usize::from(matches!(entry, RunEntry::Ended(_)));
        *endings.entry(message.subject.to_string()).or_default() += count;
    }
    let mut counted = BTreeMap::new();
    for &count in endings.values() {
        *counted.entry(count).or_default() += 1;
    }
    counted
}
