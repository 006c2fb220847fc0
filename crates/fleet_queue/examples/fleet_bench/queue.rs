//! The queue: how soon a run is claimed, and how many go through in a second.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use pi_subagents_fleet_queue::wire::{CallerCard, Ended};
use pi_subagents_fleet_queue::{Claim, Delivery, Fleet, Submission, Terms};
use pi_subagents_vocabulary::{Priority, RunId};
use tokio::task::JoinSet;

/// The number of runs that are worked on at once.
const SLOTS: usize = 64;

async fn submit(fleet: &Fleet, run: &str) {
    let submission = Submission {
        run: &RunId::parse(run).unwrap(),
        pool: "default",
        priority: Priority::Normal,
        payload: vec![b' '; 2000].into(),
        headers: async_nats::HeaderMap::new(),
        again: None,
    };
    fleet.submit(&submission).await.unwrap();
}

/// Returns how many times as long as a request and its answer it takes until a run that was
/// submitted is claimed by a waiting worker. Medians are compared.
pub(crate) async fn dispatch(url: &str, fleet: &Fleet) -> f64 {
    let client = async_nats::connect(url).await.unwrap();
    let mut echo = client.subscribe("bench.echo").await.unwrap();
    let answering = client.clone();
    let echo = tokio::spawn(async move {
        while let Some(question) = echo.next().await {
            answering
                .publish(question.reply.unwrap(), "".into())
                .await
                .unwrap();
        }
    });
    let mut puller = fleet.puller(&["default".to_owned()], 0).await.unwrap();
    let (mut asked, mut claimed) = (Vec::new(), Vec::new());
    for number in 0..200 {
        let begun = Instant::now();
        client.request("bench.echo", "".into()).await.unwrap();
        asked.push(begun.elapsed());
        let waiting = tokio::spawn(async move {
            let delivery = loop {
                if let Some(delivery) = puller.pull(1).await.unwrap().pop() {
                    break delivery;
                }
            };
            let claim = delivery.claim("bench", &Terms::default()).await.unwrap();
            (claim, Instant::now(), puller)
        });
        // The worker is waiting when the queue says so.
        while fleet.pool_load("default").await.unwrap().asking == 0 {}
        let begun = Instant::now();
        submit(fleet, &format!("d{number}")).await;
        let (claim, at, back) = waiting.await.unwrap();
        puller = back;
        claimed.push(at - begun);
        if let Claim::Mine(held) = claim {
            held.end(Ended::default()).await.unwrap();
        }
    }
    puller.stop().await;
    echo.abort();
    median(claimed).as_secs_f64() / median(asked).as_secs_f64()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Returns how many runs of no work a worker ends in a second.
pub(crate) async fn runs_per_second(fleet: &Fleet, name: &str, many: usize) -> f64 {
    let mut submissions = JoinSet::new();
    for number in 0..many {
        let (fleet, run) = (fleet.clone(), format!("{name}{number}"));
        submissions.spawn(async move { submit(&fleet, &run).await });
        if submissions.len() == 256 {
            submissions.join_next().await;
        }
    }
    submissions.join_all().await;
    let mut puller = fleet.puller(&["default".to_owned()], 0).await.unwrap();
    let begun = Instant::now();
    let mut running = JoinSet::new();
    let mut ended = 0;
    while ended < many {
        let free = SLOTS - running.len();
        // As a worker does it: a run that ends frees its place, however long a pull waits.
        tokio::select! {
            deliveries = puller.pull(free), if free > 0 => {
                for delivery in deliveries.unwrap() {
                    running.spawn(run(delivery));
                }
            }
            Some(_) = running.join_next() => ended += 1,
        }
        while running.try_join_next().is_some() {
            ended += 1;
        }
    }
    let took = begun.elapsed();
    puller.stop().await;
    per_second(many, took)
}

async fn run(delivery: Delivery) {
    let claim = delivery.claim("bench", &Terms::default()).await.unwrap();
    let Claim::Mine(held) = claim else {
        panic!("{claim:?}");
    };
    held.end(Ended::default()).await.unwrap();
}

/// Returns how many keys are written in a second, as many at once as runs are worked on.
pub(crate) async fn writes_per_second(fleet: &Fleet, many: usize) -> f64 {
    let begun = Instant::now();
    let mut writing = JoinSet::new();
    for number in 0..many {
        let (fleet, call) = (fleet.clone(), format!("c{number}"));
        writing.spawn(async move {
            let card = CallerCard::default();
            fleet
                .caller_lease(&call, &card, Duration::from_mins(1))
                .await
                .unwrap();
        });
        if writing.len() == SLOTS {
            writing.join_next().await;
        }
    }
    writing.join_all().await;
    per_second(many, begun.elapsed())
}

#[expect(clippy::cast_precision_loss, reason = "these counts are small")]
fn per_second(many: usize, took: Duration) -> f64 {
    many as f64 / took.as_secs_f64()
}
