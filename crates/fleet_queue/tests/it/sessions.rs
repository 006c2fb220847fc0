//! Conversations that several machines continue: one holder at a time, one history.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use pi_subagents_fleet_queue::names::session_object;
use pi_subagents_fleet_queue::wire::{Ended, RunCard, SavedSession, SessionEntry, SessionHolder};
use pi_subagents_fleet_queue::{Fleet, HeldSession, Kept, TakenSession, Taker};
use pretty_assertions::assert_eq;
use tokio::task::JoinSet;

use crate::stage::{claimed, connected, fleet, next, puller, run_id, submit};

const KEY: &str = "0a1b.scout.review";

fn taker(run: &str, n: u64) -> Taker {
    Taker {
        holder: SessionHolder {
            run: run.to_owned(),
            n,
            machine: None,
        },
        is_over: None,
    }
}

/// A run that its caller's own machine does.
fn at_home(run: &str) -> Taker {
    let mut taker = taker(run, 0);
    taker.holder.machine = Some("ada@laptop".to_owned());
    taker
}

fn saved(run: &str, n: u64) -> SavedSession {
    SavedSession {
        object: session_object(KEY, &run_id(run), n),
        size: 1,
    }
}

async fn take(fleet: &Fleet, taker: &Taker) -> HeldSession {
    match fleet.take_session(KEY, taker).await.unwrap() {
        TakenSession::Mine(held) => held,
        TakenSession::InUse(holder) => panic!("in use by {holder:?}"),
    }
}

#[tokio::test]
async fn eight_contenders_have_a_conversation_one_after_the_other() {
    let (server, _fleet) = fleet().await;
    let is_held = Arc::new(AtomicBool::new(false));
    let holds = Arc::new(AtomicU32::new(0));
    let mut contenders = JoinSet::new();
    for number in 0..8 {
        let fleet = connected(&server, &format!("ada-{number}")).await;
        let (is_held, holds) = (Arc::clone(&is_held), Arc::clone(&holds));
        contenders.spawn(async move {
            let mut mine = 0;
            while mine < 5 {
                let run = format!("run-{number}-{mine}");
                let taken = fleet.take_session(KEY, &at_home(&run)).await.unwrap();
                let TakenSession::Mine(held) = taken else {
                    continue;
                };
                assert!(!is_held.swap(true, Ordering::SeqCst), "two hold it");
                // Each goes on behind the one before it.
                let before = holds.fetch_add(1, Ordering::SeqCst);
                let expected = u64::from(before);
                assert_eq!(held.saved().map_or(0, |saved| saved.size), expected);
                let after = SavedSession {
                    object: session_object(KEY, &run_id(&run), 0),
                    size: expected + 1,
                };
                is_held.store(false, Ordering::SeqCst);
                assert_eq!(held.give_back(Some(after)).await.unwrap(), Kept::Done);
                mine += 1;
            }
        });
    }
    while let Some(ended) = contenders.join_next().await {
        ended.unwrap();
    }
    assert_eq!(holds.load(Ordering::SeqCst), 40);
}

#[tokio::test]
async fn a_fenced_worker_saves_nothing() {
    let (_server, fleet) = fleet().await;
    let first = take(&fleet, &taker("a", 1)).await;
    // Its worker was silent, and the next one has the later delivery.
    let second = take(&fleet, &taker("a", 2)).await;
    assert_eq!(
        first.give_back(Some(saved("a", 1))).await.unwrap(),
        Kept::Fenced
    );
    let late = fleet.take_session(KEY, &taker("a", 1)).await.unwrap();
    assert!(matches!(late, TakenSession::InUse(holder) if holder.n == 2));
    assert_eq!(
        second.give_back(Some(saved("a", 2))).await.unwrap(),
        Kept::Done
    );
    let entry = fleet.session(KEY).await.unwrap().unwrap().value;
    let expected = SessionEntry {
        holder: None,
        saved: Some(saved("a", 2)),
    };
    assert_eq!(entry, expected);
}

#[tokio::test]
async fn the_end_of_a_run_saves_its_conversation_even_if_its_worker_dies_then() {
    let (_server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let mut puller = puller(&fleet).await;
    let held = claimed(next(&mut puller).await, "one").await;
    drop(take(&fleet, &taker("a", held.n())).await);
    let refused = fleet.take_session(KEY, &taker("b", 1)).await.unwrap();
    assert!(matches!(refused, TakenSession::InUse(holder) if holder.run == "a"));
    let ended = Ended {
        session: Some(saved("a", 1)),
        ..Ended::default()
    };
    assert_eq!(held.end(ended).await.unwrap(), Kept::Done);
    // Nobody gave the conversation back, and the next run finds what was said all the same.
    let next = take(&fleet, &taker("b", 1)).await;
    assert_eq!(next.saved(), Some(&saved("a", 1)));
}

#[tokio::test]
async fn cards_of_runs_are_told_from_their_states() {
    let (_server, fleet) = fleet().await;
    let card = RunCard {
        session: "s-1".to_owned(),
        name: "review".to_owned(),
        ..RunCard::default()
    };
    fleet.put_card(&run_id("a"), &card).await.unwrap();
    fleet.wish_kept(&run_id("a")).await.unwrap();
    assert_eq!(fleet.cards().await.unwrap(), [(run_id("a"), card)]);
    assert_eq!(fleet.entries().await.unwrap().len(), 0);
}
