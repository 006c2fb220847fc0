//! The fleet against real servers.

#![expect(
    clippy::unwrap_used,
    reason = "a test whose parts fail has nothing better to do than to say so"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]

mod connect;
mod record;
mod setup;
mod stage;
