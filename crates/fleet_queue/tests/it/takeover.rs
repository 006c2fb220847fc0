//! Workers that die, freeze or are cut off: another one takes over, and a run ends once.

use std::time::Duration;

use pi_subagents_fleet_queue::{Claim, Kept, Standing};
use pi_subagents_testkit::Signal;
use pi_subagents_testkit::fleet::Proxy;
use pretty_assertions::assert_eq;

use crate::stage::{
    PATIENCE, WorkerProcess, claimed, completed, connected, connected_to, fleet, leaves_the_queue,
    next, puller, state, submit, terms,
};

const LONG: Duration = Duration::from_hours(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_worker_is_taken_over() {
    let (server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let mut first = WorkerProcess::start(&server.url(), "first", 1, LONG);
    assert_eq!(first.wait_for("begun"), "begun a Ok(Begins)");
    first.child.kill().unwrap();
    let mut puller = puller(&fleet).await;
    let held = claimed(next(&mut puller).await, "second").await;
    assert_eq!((held.n(), held.attempt()), (2, 2));
    assert_eq!(held.end(completed()).await, Ok(Kept::Done));
    assert_eq!(state(&fleet, "a").await, "ended second 2");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_wakes_up_too_late_neither_ends_nor_acknowledges_its_run() {
    let (server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let first = WorkerProcess::start(&server.url(), "first", 1, Duration::from_secs(2));
    first.wait_for("begun");
    first.signal(Signal::STOP);
    let mut puller = puller(&fleet).await;
    let held = claimed(next(&mut puller).await, "second").await;
    held.begin().await.unwrap();
    first.signal(Signal::CONT);
    // Its child's time is over when it wakes, or its own.
    let told = pi_subagents_testkit::wait_until(PATIENCE, || {
        first
            .line()
            .filter(|line| line.starts_with("ended") || line.starts_with("lost"))
    });
    let told = told.unwrap();
    assert!(
        told == "ended a Ok(Fenced)" || told.starts_with("lost a"),
        "{told}"
    );
    assert_eq!(state(&fleet, "a").await, "running second 2");
    assert!(fleet.is_queued(held.run()).await.unwrap());
    assert_eq!(held.end(completed()).await, Ok(Kept::Done));
    leaves_the_queue(&fleet, held.run()).await;
}

#[tokio::test]
async fn a_delivery_that_was_held_up_does_not_steal_the_run() {
    let (server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let proxy = Proxy::to(server.port());
    let slow = connected_to(&proxy.url(), "slow").await;
    let stale = next(&mut puller(&slow).await).await;
    proxy.black_hole(true);
    let mut quick = puller(&connected(&server, "quick").await).await;
    let held = claimed(next(&mut quick).await, "quick").await;
    proxy.black_hole(false);
    proxy.cut();
    let back = async {
        // The connection comes back by itself.
        while slow.pool_load("default").await.is_err() {}
    };
    tokio::time::timeout(PATIENCE, back).await.unwrap();
    let claim = stale.claim("slow", &terms(1)).await.unwrap();
    assert!(matches!(claim, Claim::NotMine), "{claim:?}");
    assert_eq!(held.end(completed()).await, Ok(Kept::Done));
    assert_eq!(state(&fleet, "a").await, "ended quick 2");
}

#[tokio::test]
async fn a_worker_that_is_cut_off_stops_before_another_one_begins() {
    let (server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let proxy = Proxy::to(server.port());
    let cut_off = connected_to(&proxy.url(), "first").await;
    let first = claimed(next(&mut puller(&cut_off).await).await, "first").await;
    first.begin().await.unwrap();
    proxy.black_hole(true);
    let mut standing = first.standing();
    let mut second = puller(&fleet).await;
    tokio::select! {
        biased;
        lost = standing.wait_for(Standing::is_lost) => {
            assert_eq!(*lost.unwrap(), Standing::TimeOver);
        }
        _ = next(&mut second) => panic!("the second worker got the run first"),
    }
    let held = claimed(next(&mut second).await, "second").await;
    proxy.black_hole(false);
    proxy.cut();
    assert_eq!(first.end(completed()).await, Ok(Kept::Fenced));
    assert_eq!(*first.standing().borrow(), Standing::Fenced);
    assert_eq!(held.end(completed()).await, Ok(Kept::Done));
    assert_eq!(state(&fleet, "a").await, "ended second 2");
}

#[tokio::test]
async fn a_run_that_takes_longer_than_the_lease_keeps_its_worker() {
    let (_server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let mut puller = puller(&fleet).await;
    let held = claimed(next(&mut puller).await, "w").await;
    held.begin().await.unwrap();
    let lost = tokio::time::timeout(crate::stage::LEASE * 2, async {
        loop {
            let others = puller.pull(1).await.unwrap();
            assert!(others.is_empty(), "{others:?}");
        }
    });
    assert!(lost.await.is_err());
    assert_eq!(*held.standing().borrow(), Standing::Good);
    assert_eq!(held.end(completed()).await, Ok(Kept::Done));
}
