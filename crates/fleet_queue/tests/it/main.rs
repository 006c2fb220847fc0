//! The fleet against real servers.

#![expect(
    clippy::unwrap_used,
    reason = "a test whose parts fail has nothing better to do than to say so"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]

mod cluster;
mod connect;
mod crash_points;
mod interleavings;
mod lost_disk;
mod lost_orders;
mod people;
mod permissions;
mod queue;
mod record;
mod sessions;
mod setup;
mod stage;
mod takeover;
