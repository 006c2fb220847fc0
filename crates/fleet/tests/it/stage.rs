//! What every test here needs: a server that is set up, and orders.

use std::time::Duration;

use pi_subagents_fleet::{Address, Fleet, Shape};
use pi_subagents_testkit::fleet::NatsServer;

/// The lease of all tests: short, so that a takeover is waited for and not slept through.
pub(crate) const LEASE: Duration = Duration::from_secs(3);

pub(crate) fn shape() -> Shape {
    Shape {
        lease: LEASE,
        record_bytes: 1_000_000_000,
        ..Shape::default()
    }
}

pub(crate) async fn connected(server: &NatsServer, name: &str) -> Fleet {
    Fleet::connect(&Address::new(&server.url(), name))
        .await
        .unwrap()
}

/// Starts a server and sets a fleet up on it.
pub(crate) async fn fleet() -> (NatsServer, Fleet) {
    let server = NatsServer::start();
    let fleet = connected(&server, "ada").await;
    fleet.set_up(&shape()).await.unwrap();
    (server, fleet)
}
