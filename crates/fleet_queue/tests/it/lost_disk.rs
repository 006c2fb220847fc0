//! Servers that restart, and one that comes back without its disk.

use pi_subagents_fleet_queue::{Kept, Submitted};
use pretty_assertions::assert_eq;

use crate::stage::{
    PATIENCE, claimed, completed, connected, fleet, leaves_the_queue, next, puller, run_id, shape,
    state, submit,
};

#[tokio::test]
async fn a_run_goes_on_while_its_server_restarts() {
    let (mut server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let mut puller = puller(&fleet).await;
    let held = claimed(next(&mut puller).await, "w").await;
    held.begin().await.unwrap();
    server.kill();
    // Nobody answers now: the ending waits for the server, and is written once.
    let (kept, ()) = tokio::join!(held.end(completed()), async { server.restart() });
    assert_eq!(kept, Ok(Kept::Done));
    assert_eq!(state(&fleet, "a").await, "ended w 1");
}

#[tokio::test]
async fn whoever_asked_for_runs_while_the_server_was_away_takes_none_unnoticed() {
    let (mut server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let away = connected(&server, "away").await;
    let mut asking = puller(&away).await;
    server.kill();
    assert!(asking.pull(1).await.is_err());
    server.restart();
    let back = async { while away.pool_load("default").await.is_err() {} };
    tokio::time::timeout(PATIENCE, back).await.unwrap();
    asking.stop().await;
    let mut other = puller(&connected(&server, "other").await).await;
    assert_eq!(next(&mut other).await.n(), 1);
}

#[tokio::test]
async fn a_server_that_lost_its_disk_gets_the_order_again_and_the_old_worker_is_fenced() {
    let (mut server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let first = claimed(next(&mut puller(&fleet).await).await, "first").await;
    server.kill();
    server.lose_store();
    server.restart();
    let back = async { while fleet.set_up(&shape()).await.is_err() {} };
    tokio::time::timeout(PATIENCE, back).await.unwrap();
    // The same as a follower does that finds neither an entry nor a message.
    assert_eq!(state(&fleet, "a").await, "queued");
    leaves_the_queue(&fleet, &run_id("a")).await;
    assert_eq!(submit(&fleet, "a").await, Submitted::New);
    let second = claimed(next(&mut puller(&fleet).await).await, "second").await;
    // Both have the first delivery, and their entries have the same revision.
    assert_eq!((first.n(), second.n()), (1, 1));
    assert_eq!(first.end(completed()).await, Ok(Kept::Fenced));
    assert_eq!(second.end(completed()).await, Ok(Kept::Done));
    assert_eq!(state(&fleet, "a").await, "ended second 1");
}
