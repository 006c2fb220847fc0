//! Workers with homes of their own, and a caller that uses the fleet directly.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use pi_subagents_fleet_queue::wire::{Ended, Order, RunEntry};
use pi_subagents_fleet_queue::{
    Address, ChunkFit, Fleet, HeaderMap, RecordReader, Shape, Submission, chunk_fit,
};
use pi_subagents_testkit::fleet::NatsServer;
use pi_subagents_testkit::sandbox::RunningCommand;
use pi_subagents_testkit::wait_until;
use pi_subagents_vocabulary::{Priority, RunId};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::stage::Stage;

/// The longest time that anything here may take.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The seconds after which the runs of a caller who is gone are stopped: few, and enough for a busy
/// machine.
pub(crate) const CALLER_LEASE: u64 = 10;

/// A fleet with a short lease, and a caller.
pub(crate) struct Yard {
    pub(crate) server: NatsServer,
    pub(crate) fleet: Fleet,
    runtime: Runtime,
    shape: Shape,
}

/// A worker on a machine of its own.
pub(crate) struct WorkerMachine {
    pub(crate) stage: Stage,
    pub(crate) worker: RunningCommand,
}

impl Yard {
    pub(crate) fn new() -> Self {
        Self::with_lease(Duration::from_secs(6))
    }

    /// Makes a fleet whose runs are lent to workers for this time.
    pub(crate) fn with_lease(lease: Duration) -> Self {
        let server = NatsServer::start();
        let runtime = Runtime::new().unwrap();
        let shape = Shape {
            lease,
            record_bytes: 1_000_000_000,
            ..Shape::default()
        };
        let fleet = runtime.block_on(async {
            let fleet = Fleet::connect(&Address::new(&server.url(), "ada"))
                .await
                .unwrap();
            fleet.set_up(&shape).await.unwrap();
            fleet
        });
        Self {
            server,
            fleet,
            runtime,
            shape,
        }
    }

    /// Sets the fleet up on a server that has lost everything.
    pub(crate) fn set_up_again(&self) {
        let is_set_up = || self.wait(self.fleet.set_up(&self.shape)).ok();
        assert!(wait_until(PATIENCE, is_set_up).is_some());
    }

    /// Returns a user whose calls can go to the fleet.
    pub(crate) fn caller(&self) -> Stage {
        self.caller_with_patience(PATIENCE)
    }

    /// Returns a user whose calls wait for so long when the server is away.
    pub(crate) fn caller_with_patience(&self, patience: Duration) -> Stage {
        let stage = Stage::new();
        let fleet = json!({"servers": [self.server.url()], "callerLease": CALLER_LEASE,
            "patience": patience.as_secs()});
        stage.settings(&json!({"fleet": fleet}));
        stage
    }

    /// Starts a worker and waits until it takes runs.
    pub(crate) fn worker(&self, name: &str, arguments: &[&str]) -> WorkerMachine {
        let stage = self.caller();
        let worker = stage
            .command(&["fleet", "work", "--name", name])
            .args(arguments)
            .spawn();
        worker.wait_for_stderr("takes");
        WorkerMachine { stage, worker }
    }

    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime
            .block_on(async { timeout(PATIENCE, work).await })
            .unwrap()
    }

    /// Gives the order for a run of the child that misbehaves.
    pub(crate) fn submit(&self, order: &Order) {
        self.submit_to("default", order);
    }

    /// Waits until nothing is left in the queues of pools.
    pub(crate) fn wait_until_empty(&self, pools: &[String]) {
        for pool in pools {
            let is_empty = || {
                let load = self.wait(self.fleet.pool_load(pool)).unwrap();
                (load.queued + load.running == 0).then_some(())
            };
            assert!(
                wait_until(PATIENCE, is_empty).is_some(),
                "orders are left in {pool}"
            );
        }
    }

    pub(crate) fn submit_to(&self, pool: &str, order: &Order) {
        let run = RunId::parse(&order.run).unwrap();
        let submission = Submission {
            run: &run,
            pool,
            priority: Priority::Normal,
            payload: serde_json::to_vec(order).unwrap().into(),
            headers: HeaderMap::new(),
            again: None,
        };
        self.wait(self.fleet.submit(&submission)).unwrap();
    }

    /// Waits for the end of a run.
    pub(crate) fn end_of(&self, run: &str) -> Ended {
        let run = RunId::parse(run).unwrap();
        self.wait(async {
            let mut watch = self.fleet.watch_runs(std::slice::from_ref(&run));
            loop {
                if let (_, RunEntry::Ended(ended)) = watch.next().await.unwrap() {
                    return *ended;
                }
            }
        })
    }

    /// Reads the files of a delivery of a run, with the lengths of the ended entry.
    pub(crate) fn record_of(&self, run: &str, ended: &Ended) -> BTreeMap<String, Vec<u8>> {
        let run = RunId::parse(run).unwrap();
        self.wait(async {
            let mut reader = RecordReader::start(&self.fleet, std::slice::from_ref(&run));
            let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
            let is_whole = |files: &BTreeMap<String, Vec<u8>>| {
                let have = |name: &str| files.get(name).map_or(0, Vec::len) as u64;
                ended
                    .files
                    .iter()
                    .all(|(name, length)| have(name) >= *length)
            };
            while !is_whole(&files) {
                let chunk = reader.next().await.unwrap();
                if chunk.delivery != ended.n {
                    continue;
                }
                let copy = files.entry(chunk.file).or_default();
                if let ChunkFit::New(known) =
                    chunk_fit(copy.len() as u64, chunk.at, chunk.bytes.len())
                {
                    copy.extend_from_slice(&chunk.bytes[known..]);
                }
            }
            files
        })
    }
}

/// Returns an order for the child that misbehaves.
pub(crate) fn order(number: u32, script: &Value) -> Order {
    let order = json!({
        "format": 2,
        "run": format!("20261116-120000-000-{number:06x}"),
        "session": format!("{number:016x}"),
        "call": "call-1",
        "name": "review",
        "caller": "ada@laptop",
        "asked": script.to_string(),
        "work": {
            "prompt": script.to_string(),
            "runner": "pi",
            "tools": "inherit",
            "completion": "lastMessage",
            "limits": {"extension": 30.0, "repetitions": 0},
            "trusted": false,
        },
        "workspace": "none",
        "retries": 1,
        "issued": "2026-11-16T12:00:00Z",
    });
    serde_json::from_value(order).unwrap()
}
