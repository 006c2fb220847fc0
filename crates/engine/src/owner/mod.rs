//! The socket by which other processes of this user reach an owner's runs: one JSON object per
//! line, one request per connection.

mod client;
mod socket;
mod wire;

pub use client::{AskError, ask};
pub use socket::OwnerSocket;
pub use wire::{OwnerReply, OwnerRequest, Want};
