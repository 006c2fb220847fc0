//! Objects over a long way.

use std::time::{Duration, Instant};

use pi_subagents_fleet_queue::{Address, Fleet};
use pi_subagents_testkit::fleet::{NatsServer, Proxy};

const SIZE: usize = 8 * 1024 * 1024;

/// Returns how many times as fast as the client library's own way an object is put, at a round trip
/// of 50 ms.
pub(crate) async fn put(server: &NatsServer) -> f64 {
    let proxy = Proxy::to(server.port());
    let fleet = Fleet::connect(&Address::new(&proxy.url(), "far"))
        .await
        .unwrap();
    let client = async_nats::connect(proxy.url()).await.unwrap();
    proxy.delay(Duration::from_millis(25));
    let bytes = vec![7; SIZE];
    let begun = Instant::now();
    fleet
        .blobs()
        .put_bytes("bench/window", bytes.clone().into())
        .await
        .unwrap();
    let with_window = begun.elapsed();
    let streams = async_nats::jetstream::new(client);
    let bucket = streams.get_object_store("PI_BLOBS").await.unwrap();
    let begun = Instant::now();
    bucket
        .put("bench/one-by-one", &mut &bytes[..])
        .await
        .unwrap();
    begun.elapsed().as_secs_f64() / with_window.as_secs_f64()
}
