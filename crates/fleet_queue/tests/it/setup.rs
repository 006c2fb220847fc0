//! Setting up, again and again.

use pi_subagents_fleet_queue::{FleetError, MissingPart, Shape};
use pi_subagents_testkit::fleet::NatsServer;
use pretty_assertions::assert_eq;

use crate::stage::{connected, fleet, shape};

#[tokio::test]
async fn a_fleet_is_set_up_once_and_again_with_more_pools() {
    let (_server, fleet) = fleet().await;
    let pools = ["default".to_owned(), "gpu".to_owned()];
    let missing = fleet.missing(&pools).await.unwrap();
    assert_eq!(
        missing,
        ["gpu-high", "gpu-normal", "gpu-low"].map(|name| MissingPart::Consumer(name.to_owned()))
    );
    let wider = Shape {
        pools: pools.to_vec(),
        ..shape()
    };
    for _ in 0..2 {
        fleet.set_up(&wider).await.unwrap();
        let missing = fleet.missing(&pools).await.unwrap();
        assert_eq!(missing, Vec::<MissingPart>::new());
    }
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let server = NatsServer::start();
    let fleet = connected(&server, "ada").await;
    let missing = fleet.missing(&["default".to_owned()]).await.unwrap();
    assert_eq!(missing[0], MissingPart::Stream("PI_WORK".to_owned()));
    assert_eq!(missing.len(), 10);
    let bad = Shape {
        pools: vec!["a.b".to_owned()],
        ..shape()
    };
    let error = fleet.set_up(&bad).await.unwrap_err();
    assert!(matches!(error, FleetError::BadName(_)), "{error}");
}
