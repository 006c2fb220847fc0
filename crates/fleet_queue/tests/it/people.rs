//! The present workers, the callers who wait, and the wishes to stop a run.

use std::time::Duration;

use pi_subagents_fleet_queue::wire::{CallerCard, Ended, RunEntry, WorkerCard};
use pi_subagents_fleet_queue::{
    Arrival, Begun, CallerEnd, Claim, Fleet, GiveUp, Kept, Presence, Standing, Terms,
};
use pretty_assertions::assert_eq;

use crate::stage::{
    PATIENCE, claimed, completed, fleet, leaves_the_queue, next, puller, run_id, submit,
};

const TIME: Duration = Duration::from_secs(5);

async fn until<T>(mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let found = async {
        loop {
            if let Some(found) = probe().await {
                return found;
            }
        }
    };
    tokio::time::timeout(PATIENCE, found).await.unwrap()
}

fn card(free: u32) -> WorkerCard {
    let pools = vec!["default".to_owned()];
    WorkerCard {
        pools,
        slots: 4,
        free,
        ..WorkerCard::default()
    }
}

async fn names(fleet: &Fleet) -> Vec<String> {
    fleet
        .workers()
        .await
        .unwrap()
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

#[tokio::test]
async fn workers_are_seen_until_they_leave_or_die() {
    let (_server, fleet) = fleet().await;
    assert_eq!(fleet.workers().await.unwrap(), []);
    let one = present(&fleet, "one", &card(4)).await;
    let two = present(&fleet, "two", &card(4)).await;
    one.publish(&card(1));
    let told = ("one".to_owned(), card(1));
    until(async || fleet.workers().await.unwrap().contains(&told).then_some(())).await;
    assert_eq!(names(&fleet).await, ["one", "two"]);
    one.leave().await.unwrap();
    assert_eq!(names(&fleet).await, ["two"]);
    // It dies, and is seen for its time.
    drop(two);
    until(async || names(&fleet).await.is_empty().then_some(())).await;
}

async fn present(fleet: &Fleet, name: &str, card: &WorkerCard) -> Presence {
    match fleet.be_present(name, card, TIME).await.unwrap() {
        Arrival::Present(presence) => presence,
        Arrival::NameTaken(card) => panic!("{card:?}"),
    }
}

#[tokio::test]
async fn a_name_belongs_to_one_worker_until_it_leaves_or_its_card_is_gone() {
    let (_server, fleet) = fleet().await;
    let of = |instance: &str| WorkerCard {
        instance: instance.to_owned(),
        ..card(4)
    };
    let taken = async |instance: &str| match fleet.be_present("w", &of(instance), TIME).await {
        Ok(Arrival::NameTaken(there)) => (there.value.instance.clone(), there.revision),
        other => panic!("{other:?}"),
    };
    let first = present(&fleet, "w", &of("first")).await;
    let (instance, revision) = taken("second").await;
    assert_eq!(instance, "first");
    // A worker that is there renews its card.
    until(async || (taken("second").await.1 > revision).then_some(())).await;
    // It was killed, and is started again in the same directory.
    drop(first);
    let again = present(&fleet, "w", &of("first")).await;
    again.leave().await.unwrap();
    // Another one has the name now, whose card an earlier one does not take away.
    let second = present(&fleet, "w", &of("second")).await;
    let bucket = fleet.names().workers();
    let json = serde_json::to_vec(&of("third")).unwrap();
    fleet.overwrite(&bucket, "w", json.into()).await.unwrap();
    second.leave().await.unwrap();
    assert_eq!(taken("fourth").await.0, "third");
    // A worker that was killed leaves its name when its card is gone.
    let json = serde_json::to_vec(&of("third")).unwrap();
    let short = Duration::from_secs(1);
    let written = fleet.write_for(&bucket, "w", json.into(), short).await;
    written.unwrap();
    let free = async || match fleet.be_present("w", &of("fourth"), TIME).await.unwrap() {
        Arrival::Present(presence) => Some(presence),
        Arrival::NameTaken(_) => None,
    };
    until(free).await.leave().await.unwrap();
}

#[tokio::test]
async fn a_run_whose_caller_is_gone_is_ended_by_whoever_has_it_or_gets_it() {
    let (_server, fleet) = fleet().await;
    let lease = fleet
        .caller_lease("call", &CallerCard::default(), TIME)
        .await
        .unwrap();
    assert!(fleet.has_caller("call").await.unwrap());
    let terms = Terms {
        retries: 1,
        call: Some("call".to_owned()),
    };
    submit(&fleet, "a").await;
    submit(&fleet, "b").await;
    let mut puller = puller(&fleet).await;
    let claim = next(&mut puller).await.claim("w", &terms).await.unwrap();
    let Claim::Mine(held) = claim else {
        panic!("{claim:?}");
    };
    drop(lease);
    let mut standing = held.standing();
    let gone = standing.wait_for(|standing| *standing != Standing::Good);
    let gone = tokio::time::timeout(PATIENCE, gone)
        .await
        .unwrap()
        .unwrap()
        .clone();
    assert_eq!(gone, Standing::CallerGone);
    let claim = next(&mut puller).await.claim("w", &terms).await.unwrap();
    let Claim::Mine(late) = claim else {
        panic!("{claim:?}");
    };
    let gone = Begun::GaveUp(GiveUp::CallerGone);
    assert_eq!(late.begin().await, Ok(gone));
    assert_eq!(late.release().await, Ok(Kept::Done));
    // The next worker that gets the run knows it with its claim.
    let claim = next(&mut puller).await.claim("w", &terms).await.unwrap();
    assert!(
        matches!(claim, Claim::GaveUp(GiveUp::CallerGone, _)),
        "{claim:?}"
    );
}

#[tokio::test]
async fn a_run_that_shall_be_stopped_is_ended_by_whoever_has_it_or_gets_it() {
    let (_server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    submit(&fleet, "b").await;
    let mut puller = puller(&fleet).await;
    let held = claimed(next(&mut puller).await, "w").await;
    for run in ["a", "b"] {
        fleet.wish_stop(&run_id(run), "ada@laptop").await.unwrap();
    }
    let by = "ada@laptop".to_owned();
    let mut standing = held.standing();
    let told = standing.wait_for(|standing| *standing != Standing::Good);
    let told = tokio::time::timeout(PATIENCE, told)
        .await
        .unwrap()
        .unwrap()
        .clone();
    assert_eq!(told, Standing::StopWished { by: by.clone() });
    // A holder that begins to listen after the wish hears of it all the same.
    let mut late = held.standing();
    assert!(late.has_changed().unwrap());
    assert_eq!(*late.borrow_and_update(), told);
    let why = GiveUp::Stopped { by };
    let late = claimed(next(&mut puller).await, "w").await;
    assert_eq!(late.begin().await, Ok(Begun::GaveUp(why.clone())));
    assert_eq!(late.release().await, Ok(Kept::Done));
    // The next worker that gets the run knows it with its claim.
    let terms = crate::stage::terms(1);
    let claim = next(&mut puller).await.claim("w", &terms).await.unwrap();
    let Claim::GaveUp(known, _held) = claim else {
        panic!("{claim:?}");
    };
    assert_eq!(known, why);
    // Two wishes for one run do not undo each other.
    fleet.wish_kept(&run_id("a")).await.unwrap();
    let wish = fleet.wish(&run_id("a")).await.unwrap().unwrap().value;
    assert!(wish.kept && wish.stop.is_some());
}

#[tokio::test]
async fn a_run_is_stopped_whether_it_is_queued_claimed_or_begun_and_stays_as_it_ended() {
    let (_server, fleet) = fleet().await;
    let stopped = Ended {
        status: "aborted".to_owned(),
        ..Ended::default()
    };
    for run in ["claimed", "begun", "ended"] {
        submit(&fleet, run).await;
    }
    let mut puller = puller(&fleet).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(claimed(next(&mut puller).await, "w").await);
    }
    held[1].begin().await.unwrap();
    assert_eq!(held[2].end(completed()).await, Ok(Kept::Done));
    submit(&fleet, "queued").await;
    for run in ["queued", "claimed", "begun", "ended"] {
        fleet.wish_stop(&run_id(run), "ada@laptop").await.unwrap();
    }
    let end = async |run| fleet.end_for_caller(&run_id(run), &stopped).await.unwrap();
    assert_eq!(end("queued").await, CallerEnd::Now);
    assert!(matches!(end("ended").await, CallerEnd::Before(_)));
    for one in &held[..2] {
        let mut standing = one.standing();
        let wished = standing.wait_for(|now| matches!(now, Standing::StopWished { .. }));
        _ = tokio::time::timeout(PATIENCE, wished)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(one.end(stopped.clone()).await, Ok(Kept::Done));
    }
    let mut ended = Vec::new();
    for run in ["queued", "claimed", "begun", "ended"] {
        let entry = fleet.entry(&run_id(run)).await.unwrap().unwrap().value;
        let RunEntry::Ended(end) = entry else {
            panic!("{entry:?}");
        };
        ended.push(end.status);
        leaves_the_queue(&fleet, &run_id(run)).await;
    }
    assert_eq!(ended, ["aborted", "aborted", "aborted", "completed"]);
}
