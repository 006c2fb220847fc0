//! Orders in the queue: once, in order of urgency, and out again.

use pi_subagents_fleet_queue::wire::Ended;
use pi_subagents_fleet_queue::{CallerEnd, Claim, Kept, PoolLoad, Submitted};
use pi_subagents_vocabulary::Priority;
use pretty_assertions::assert_eq;

use crate::stage::{
    PATIENCE, claimed, completed, connected, fleet, leaves_the_queue, next, puller, run_id, state,
    submit, submit_as, terms,
};

#[tokio::test]
async fn a_run_that_is_submitted_twice_runs_once() {
    let (_server, fleet) = fleet().await;
    let submitted = [submit(&fleet, "a").await, submit(&fleet, "a").await];
    assert_eq!(submitted, [Submitted::New, Submitted::Already]);
    // Another priority is another subject; the id of the message tells.
    assert_eq!(
        submit_as(&fleet, "a", Priority::High).await,
        Submitted::Already
    );
    let mut puller = puller(&fleet).await;
    let held = claimed(next(&mut puller).await, "w").await;
    held.end(completed()).await.unwrap();
    assert_eq!(state(&fleet, "a").await, "ended w 1");
    leaves_the_queue(&fleet, &run_id("a")).await;
    assert!(puller.pull(1).await.unwrap().is_empty());
}

#[tokio::test]
async fn urgent_runs_come_first_and_no_more_than_there_are_places() {
    let (_server, fleet) = fleet().await;
    for (run, priority) in [
        ("low-1", Priority::Low),
        ("normal-1", Priority::Normal),
        ("low-2", Priority::Low),
        ("high-1", Priority::High),
        ("high-2", Priority::High),
        ("normal-2", Priority::Normal),
    ] {
        submit_as(&fleet, run, priority).await;
    }
    let mut puller = puller(&fleet).await;
    let mut order = Vec::new();
    let mut held = Vec::new();
    for free in [3, 2, 9] {
        let deliveries = puller.pull(free).await.unwrap();
        order.push(
            deliveries
                .iter()
                .map(|one| one.run().as_str().to_owned())
                .collect::<Vec<_>>(),
        );
        held.extend(deliveries);
    }
    let expected = [
        vec!["high-1", "high-2", "normal-1"],
        vec!["normal-2", "low-1"],
        vec!["low-2"],
    ];
    assert_eq!(order, expected);
    let load = fleet.pools().await.unwrap();
    let pool = "default".to_owned();
    assert_eq!(
        load,
        [PoolLoad {
            pool,
            queued: 0,
            running: 6,
            asking: 0,
            oldest: None,
        }]
    );
}

#[tokio::test]
async fn whoever_stops_waiting_for_runs_loses_none() {
    let (server, fleet) = fleet().await;
    let (one, other) = (
        connected(&server, "one").await,
        connected(&server, "other").await,
    );
    let mut fickle = puller(&one).await;
    let names: Vec<String> = (0..60).map(|number| format!("r{number}")).collect();
    for run in &names {
        // The wait is given up at some moment around the arrival of the run.
        let given_up = tokio::time::timeout(std::time::Duration::from_millis(1), fickle.pull(1));
        let (taken, _) = tokio::join!(given_up, submit(&fleet, run));
        for delivery in taken.into_iter().flatten().flatten() {
            claimed(delivery, "one")
                .await
                .end(completed())
                .await
                .unwrap();
        }
    }
    let gone = tokio::spawn(fickle.stop());
    let mut steady = puller(&other).await;
    let all = async {
        while fleet.entries().await.unwrap().len() < names.len() {
            for delivery in steady.pull(8).await.unwrap() {
                claimed(delivery, "other")
                    .await
                    .end(completed())
                    .await
                    .unwrap();
            }
        }
    };
    tokio::time::timeout(PATIENCE, all).await.unwrap();
    gone.await.unwrap();
    assert_eq!(fleet.pool_load("default").await.unwrap().queued, 0);
}

#[tokio::test]
async fn a_run_is_ended_at_once_for_its_caller_whoever_has_it() {
    let (_server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    submit(&fleet, "b").await;
    let mut puller = puller(&fleet).await;
    let a = next(&mut puller).await;
    assert_eq!(a.run().as_str(), "a");
    let a = claimed(a, "w").await;
    let stopped = Ended {
        status: "aborted".to_owned(),
        ..Ended::default()
    };
    let end = async |run, ended| fleet.end_for_caller(&run_id(run), ended).await.unwrap();
    let ends = [
        end("a", &stopped).await,
        end("b", &stopped).await,
        // The answer to the first write may be lost.
        end("b", &stopped).await,
        end("b", &completed()).await,
    ];
    let before = CallerEnd::Before(Box::new(stopped.clone()));
    let now = CallerEnd::Now;
    assert_eq!(ends, [now.clone(), now.clone(), now, before]);
    for run in ["a", "b"] {
        leaves_the_queue(&fleet, &run_id(run)).await;
    }
    assert_eq!(submit(&fleet, "b").await, Submitted::Already);
    // The worker that had it finds out, and writes nothing.
    assert_eq!(a.end(completed()).await, Ok(Kept::Fenced));
    assert_eq!(state(&fleet, "a").await, "ended  0");
}

#[tokio::test]
async fn an_order_that_comes_again_after_its_run_has_ended_is_taken_out() {
    let (_server, fleet) = fleet().await;
    fleet
        .end_for_caller(&run_id("a"), &completed())
        .await
        .unwrap();
    submit(&fleet, "a").await;
    let mut puller = puller(&fleet).await;
    let claim = next(&mut puller).await.claim("w", &terms(1)).await.unwrap();
    assert!(matches!(claim, Claim::Ended), "{claim:?}");
    leaves_the_queue(&fleet, &run_id("a")).await;
}
