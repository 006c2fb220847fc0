//! Real NATS servers for tests, and a proxy that can break the way to them.
//!
//! `cargo xtask test` fetches the server into the build directory before it tests.

mod certificates;
mod cluster;
mod proxy;
mod server;

pub use certificates::Certificates;
pub use cluster::NatsCluster;
pub use proxy::Proxy;
pub use server::{NatsServer, nats_program};
