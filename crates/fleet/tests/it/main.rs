//! The fleet against real servers.

#![expect(
    clippy::unwrap_used,
    reason = "a test whose parts fail has nothing better to do than to say so"
)]

mod connect;
mod setup;
mod stage;
