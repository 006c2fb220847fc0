//! Orders that somebody has thrown out of the queue, and entries that somebody has spoilt.

use pi_subagents_fleet_queue::wire::WorkerCard;
use pi_subagents_fleet_queue::{
    Again, Arrival, Claim, Fleet, GiveUp, Kept, Knowledge, Submission, Submitted,
};
use pi_subagents_testkit::fleet::NatsServer;
use pi_subagents_vocabulary::Priority;
use pretty_assertions::assert_eq;

use crate::stage::{
    LEASE, PATIENCE, claimed, completed, connected, fleet, leaves_the_queue, next, puller, run_id,
    state, submit, terms,
};

/// Throws all orders away, as every caller can.
async fn purge(server: &NatsServer) {
    let client = async_nats::connect(server.url()).await.unwrap();
    let purged = client.request("$JS.API.STREAM.PURGE.PI_WORK", "{}".into());
    let purged = purged.await.unwrap();
    let answer = String::from_utf8(purged.payload.to_vec()).unwrap();
    assert!(answer.contains(r#""success":true"#), "{answer}");
}

async fn submit_again(fleet: &Fleet, run: &str, again: Again) -> Submitted {
    let submission = Submission {
        run: &run_id(run),
        pool: "default",
        priority: Priority::Normal,
        payload: "{}".into(),
        headers: async_nats::HeaderMap::new(),
        again: Some(again),
    };
    fleet.submit(&submission).await.unwrap()
}

/// Waits until a run does not go on by itself.
async fn stuck(fleet: &Fleet, run: &str) -> Knowledge {
    let stuck = async {
        loop {
            let known = fleet.look_for_run(&run_id(run)).await.unwrap();
            if known != Knowledge::GoesOn {
                return known;
            }
        }
    };
    tokio::time::timeout(PATIENCE, stuck).await.unwrap()
}

#[tokio::test]
async fn an_order_that_is_thrown_away_while_its_worker_is_lost_is_given_again_and_taken_at_once() {
    let (server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let worker = connected(&server, "first").await;
    let card = WorkerCard {
        runs: vec!["a".to_owned()],
        ..WorkerCard::default()
    };
    let present = worker.be_present("first", &card, LEASE).await.unwrap();
    let Arrival::Present(presence) = present else {
        panic!("{present:?}");
    };
    let mut puller = puller(&fleet).await;
    let first = claimed(next(&mut puller).await, "first").await;
    first.begin().await.unwrap();
    purge(&server).await;
    // A worker that is there does its run without an order.
    let known = fleet.look_for_run(&run_id("a")).await.unwrap();
    assert_eq!(known, Knowledge::GoesOn);
    drop(presence);
    let Knowledge::Abandoned { n: 1, .. } = stuck(&fleet, "a").await else {
        panic!("it is not abandoned");
    };
    let again = Again {
        attempt: 1,
        after: 1,
    };
    assert_eq!(submit_again(&fleet, "a", again).await, Submitted::New);
    // The numbers of deliveries go on, so its first delivery is taken.
    let second = claimed(next(&mut puller).await, "second").await;
    assert_eq!((second.n(), second.attempt()), (2, 2));
    assert_eq!(first.end(completed()).await, Ok(Kept::Fenced));
    assert_eq!(second.end(completed()).await, Ok(Kept::Done));
    assert_eq!(state(&fleet, "a").await, "ended second 2");
    leaves_the_queue(&fleet, second.run()).await;
}

#[tokio::test]
async fn an_order_is_in_the_queue_again_as_often_as_it_is_thrown_away() {
    let (server, fleet) = fleet().await;
    assert_eq!(submit(&fleet, "a").await, Submitted::New);
    for attempt in 1..=2 {
        purge(&server).await;
        assert_eq!(
            fleet.look_for_run(&run_id("a")).await,
            Ok(Knowledge::Nothing)
        );
        let again = Again { attempt, after: 0 };
        assert_eq!(submit_again(&fleet, "a", again).await, Submitted::New);
        assert_eq!(
            fleet.look_for_run(&run_id("a")).await,
            Ok(Knowledge::GoesOn)
        );
    }
    assert_eq!(next(&mut puller(&fleet).await).await.n(), 1);
}

#[tokio::test]
async fn the_holder_of_a_run_writes_its_end_over_an_entry_that_somebody_has_spoilt() {
    let (_server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let held = claimed(next(&mut puller(&fleet).await).await, "w").await;
    let bucket = fleet.names().runs();
    let spoilt = r#"{"garbage":true}"#;
    fleet.overwrite(&bucket, "a", spoilt.into()).await.unwrap();
    fleet
        .overwrite(&bucket, "want.a", spoilt.into())
        .await
        .unwrap();
    assert_eq!(held.end(completed()).await, Ok(Kept::Done));
    assert_eq!(state(&fleet, "a").await, "ended w 1");
}

#[tokio::test]
async fn a_run_whose_entry_is_spoilt_is_taken_only_to_be_ended_by_its_name() {
    let (_server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let bucket = fleet.names().runs();
    for key in ["a", "want.a"] {
        fleet.overwrite(&bucket, key, "?".into()).await.unwrap();
    }
    let delivery = next(&mut puller(&fleet).await).await;
    let claim = delivery.claim("w", &terms(3)).await.unwrap();
    let Claim::GaveUp(GiveUp::Unreadable { why }, held) = claim else {
        panic!("{claim:?}");
    };
    assert_eq!(why, "expected value at line 1 column 1");
    assert_eq!(held.end(completed()).await, Ok(Kept::Done));
    leaves_the_queue(&fleet, held.run()).await;
}
