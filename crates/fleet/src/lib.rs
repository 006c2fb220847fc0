//! # Runs on other machines
//!
//! A fleet is a NATS account with our streams. A caller gives an order for each run; a worker takes
//! it, runs it, and ends it. Read in this order:
//!
//! - [`names`]: what everything is called on the servers;
//! - [`wire`]: what the machines tell each other;
//! - [`address`], [`connect`], [`error`], [`keys`]: the connection, and what can go wrong with it;
//! - [`setup`]: the streams, buckets and consumers;
//! - `ask`, [`store`]: one request, and keys with values.
//!
//! Three rules are ours, and everything else is the server's: a run is claimed with the number of
//! its delivery, it ends by one compare-and-set before its message is acknowledged, and the bytes
//! of its record go back to where they were lost. `docs/design/fleet.md` says why.
//!
//! The crate knows no engine, no session files and no windows: the app puts them together.

pub mod address;
mod ask;
pub mod connect;
pub mod error;
pub mod keys;
pub mod names;
pub mod setup;
pub mod store;
pub mod wire;

pub use address::Address;
pub use connect::Fleet;
pub use error::FleetError;
pub use keys::Key;
pub use setup::Shape;
