//! A worker for tests: it claims runs and "runs" them by waiting. It prints a line for each step on
//! stdout, so that a test knows when to kill it.
//!
//! `plain_worker SERVERS NAME SLOTS MILLISECONDS`

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "its lines are what it is for, and a test that fails says so by panicking"
)]

use std::time::Duration;

use pi_subagents_fleet_queue::wire::Ended;
use pi_subagents_fleet_queue::{Address, Claim, Delivery, Fleet, Standing, Terms};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [servers, name, slots, milliseconds] = &arguments[..] else {
        panic!("plain_worker SERVERS NAME SLOTS MILLISECONDS");
    };
    let mut address = Address::new("", name);
    address.servers = servers.split(',').map(str::to_owned).collect();
    let fleet = Fleet::connect(&address).await.unwrap();
    let mut puller = fleet.puller(&["default".to_owned()], 0).await.unwrap();
    let work = Duration::from_millis(milliseconds.parse().unwrap());
    let mut running = tokio::task::JoinSet::new();
    let slots: usize = slots.parse().unwrap();
    println!("ready");
    loop {
        while running.try_join_next().is_some() {}
        if running.len() == slots {
            running.join_next().await;
        }
        match puller.pull(slots - running.len()).await {
            Ok(deliveries) => {
                for delivery in deliveries {
                    running.spawn(run(delivery, name.clone(), work));
                }
            }
            Err(error) => {
                println!("error {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn run(delivery: Delivery, worker: String, work: Duration) {
    let run = delivery.run().as_str().to_owned();
    let terms = Terms {
        retries: 100,
        call: None,
    };
    let held = match delivery.claim(&worker, &terms).await {
        Ok(Claim::Mine(held)) => held,
        other => return println!("left {run} {other:?}"),
    };
    println!("claimed {run} {}", held.n());
    println!("begun {run} {:?}", held.begin().await);
    let mut standing = held.standing();
    tokio::select! {
        () = tokio::time::sleep(work) => {}
        lost = standing.wait_for(Standing::is_lost) => {
            return println!("lost {run} {:?}", lost.map(|standing| standing.clone()));
        }
    }
    let status = "completed".to_owned();
    let ended = Ended {
        status,
        ..Ended::default()
    };
    println!("ended {run} {:?}", held.end(ended).await);
}
