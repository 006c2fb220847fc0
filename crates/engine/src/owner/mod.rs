//! The socket by which other processes of this user reach an owner's runs: one JSON object per
//! line, one request per connection. A reader of partial messages gets
//! many updates before its reply.

mod client;
mod partial_stream;
mod socket;
mod sockets;
mod wire;

pub use client::{AskError, OwnerAddress, ask};
pub use partial_stream::PartialStream;
pub use socket::OwnerSocket;
pub use sockets::{LONGEST_SOCKET_NAME, remove_abandoned_sockets};
pub use wire::{OwnerReply, OwnerRequest, PartialUpdate, Want};
