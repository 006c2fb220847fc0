//! A worker that dies at each step from the delivery to the acknowledgement. Whatever it left, the
//! next one ends the run, or finds it ended.

use pi_subagents_fleet_queue::{Address, Claim, Fleet, GiveUp, Kept, Key};
use pi_subagents_testkit::fleet::NatsServer;
use pi_subagents_vocabulary::Secret;
use pretty_assertions::assert_eq;

use crate::stage::{
    claimed, completed, fleet, leaves_the_queue, next, puller, shape, state, submit, terms,
};

#[tokio::test]
async fn before_its_child_starts_a_lost_worker_costs_no_attempt() {
    let (_server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let mut puller = puller(&fleet).await;
    // Dropping what was delivered is what death looks like from the server.
    drop(next(&mut puller).await);
    drop(claimed(next(&mut puller).await, "first").await);
    let claim = next(&mut puller)
        .await
        .claim("second", &terms(0))
        .await
        .unwrap();
    let Claim::Mine(held) = claim else {
        panic!("{claim:?}");
    };
    assert_eq!((held.n(), held.attempt()), (3, 1));
    held.begin().await.unwrap();
    drop(held);
    let claim = next(&mut puller)
        .await
        .claim("third", &terms(0))
        .await
        .unwrap();
    let Claim::GaveUp(GiveUp::Lost { losses: 2 }, held) = claim else {
        panic!("{claim:?}");
    };
    // It dies too, before it has ended the run; the next one comes to the same.
    drop(held);
    let claim = next(&mut puller)
        .await
        .claim("fourth", &terms(0))
        .await
        .unwrap();
    let Claim::GaveUp(GiveUp::Lost { losses: 3 }, held) = claim else {
        panic!("{claim:?}");
    };
    assert_eq!(held.end(completed()).await, Ok(Kept::Done));
    assert_eq!(state(&fleet, "a").await, "ended fourth 5");
    leaves_the_queue(&fleet, held.run()).await;
}

#[tokio::test]
async fn after_its_ending_is_written_a_lost_worker_leaves_a_message_that_the_next_one_removes() {
    let (ada, mute) = (Key::generate(), Key::generate());
    let server = NatsServer::with_settings(&format!(
        "authorization {{ users: [{{ nkey: {} }}, {{ nkey: {}, permissions: {{ publish: {{ deny: \
         \"$JS.ACK.>\" }} }} }}] }}",
        ada.public(),
        mute.public()
    ));
    let connect = async |key: &Key, name: &str| {
        let mut address = Address::new(&server.url(), name);
        address.nkey = Some(Secret::new(key.seed().unwrap()));
        Fleet::connect(&address).await.unwrap()
    };
    let fleet = connect(&ada, "ada").await;
    fleet.set_up(&shape()).await.unwrap();
    submit(&fleet, "a").await;
    // A worker that may not acknowledge is one that dies right before it would.
    let mute = connect(&mute, "mute").await;
    let held = claimed(next(&mut puller(&mute).await).await, "mute").await;
    assert_eq!(held.end(completed()).await, Ok(Kept::Done));
    drop(held);
    assert_eq!(state(&fleet, "a").await, "ended mute 1");
    let mut puller = puller(&fleet).await;
    let again = next(&mut puller).await;
    let run = again.run().clone();
    let claim = again.claim("second", &terms(1)).await.unwrap();
    assert!(matches!(claim, Claim::Ended), "{claim:?}");
    leaves_the_queue(&fleet, &run).await;
    assert_eq!(state(&fleet, "a").await, "ended mute 1");
}

#[tokio::test]
async fn a_run_that_is_given_back_is_taken_at_once_and_costs_no_attempt() {
    let (_server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let mut puller = puller(&fleet).await;
    let held = claimed(next(&mut puller).await, "first").await;
    held.begin().await.unwrap();
    assert_eq!(held.release().await, Ok(Kept::Done));
    assert_eq!(state(&fleet, "a").await, "released first 1");
    let claim = next(&mut puller)
        .await
        .claim("second", &terms(0))
        .await
        .unwrap();
    let Claim::Mine(held) = claim else {
        panic!("{claim:?}");
    };
    assert_eq!((held.n(), held.attempt()), (2, 1));
}

#[tokio::test]
async fn a_delivery_with_the_number_of_our_own_claim_is_left_alone() {
    let (_server, fleet) = fleet().await;
    submit(&fleet, "a").await;
    let mut puller = puller(&fleet).await;
    let delivery = next(&mut puller).await;
    // A server that was killed has forgotten that it counted this delivery, and the worker that
    // gets it again is still at work on it.
    let entry = r#"{"state":"running","worker":"w","n":1,"since":"","attempt":1,"begun":true}"#;
    let bucket = fleet.names().runs();
    fleet
        .write(&bucket, "a", entry.as_bytes().into(), 0)
        .await
        .unwrap();
    let claim = delivery.claim("w", &terms(1)).await.unwrap();
    assert!(matches!(claim, Claim::NotMine), "{claim:?}");
    assert_eq!(state(&fleet, "a").await, "running w 1");
}
