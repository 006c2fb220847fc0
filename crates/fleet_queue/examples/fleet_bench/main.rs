//! Measures the cost of a fleet, as ratios of one run: `cargo xtask bench fleet` builds and starts
//! this.

#![expect(
    clippy::disallowed_methods,
    reason = "it writes the files that it sends, and starts itself as a reader"
)]
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "its table is what it is for, and a measurement that fails says so by panicking"
)]

mod objects;
mod queue;
mod records;

use std::time::Duration;

use pi_subagents_fleet_queue::{Address, Fleet, Shape};
use pi_subagents_testkit::fleet::{NatsCluster, NatsServer};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, server] = &arguments[..]
        && word == "read"
    {
        return records::read(server).await;
    }
    println!("{:<62}{:>10}{:>10}", "fleet", "ratio", "budget");
    let server = NatsServer::start();
    let fleet = set_up(&[server.url()], 1).await;
    let dispatch = queue::dispatch(&server.url(), &fleet).await;
    row(
        "dispatch and claim / one request and its answer",
        dispatch,
        "<= 4",
    );
    let one = queue::runs_per_second(&fleet, "one", 10_000).await;
    let writes = queue::writes_per_second(&fleet, 10_000).await;
    row(
        "10,000 runs of no work: runs/s / (writes/s / 2)",
        one / (writes / 2.0),
        ">= 0.5",
    );
    row(
        "objects at 50 ms: put with a window / one chunk after the other",
        objects::put(&server).await,
        ">= 5",
    );
    let sixteen = records::sixteen(&server, &fleet).await;
    row(
        "16 records at 10 MB/s each: achieved / asked",
        sixteen.achieved,
        ">= 0.95",
    );
    row(
        "their reader: highest memory in MB",
        sixteen.reader_mb,
        "<= 32",
    );
    row(
        "one record, as fast as it goes: TLS / plain",
        records::tls(&fleet).await,
        ">= 0.4",
    );
    drop(server);
    let cluster = NatsCluster::start();
    let three = set_up(&cluster.urls(), 3).await;
    let three = queue::runs_per_second(&three, "three", 2_000).await;
    row("runs/s on three servers / on one", three / one, ">= 0.15");
    println!("\n{one:.0} runs/s on one server, {three:.0} on three, {writes:.0} writes/s");
}

fn row(what: &str, ratio: f64, budget: &str) {
    println!("{what:<62}{ratio:>10.2}{budget:>10}");
}

/// Connects, and sets a fleet up as soon as the servers have a leader.
async fn set_up(servers: &[String], replicas: usize) -> Fleet {
    let mut address = Address::new("", "bench");
    address.servers = servers.to_vec();
    let fleet = Fleet::connect(&address).await.unwrap();
    let mut tries = 0;
    while let Err(error) = fleet.set_up(&shape(replicas)).await {
        tries += 1;
        assert!(tries < 300, "{error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    fleet
}

fn shape(replicas: usize) -> Shape {
    Shape {
        replicas,
        record_bytes: 4_000_000_000,
        ..Shape::default()
    }
}
