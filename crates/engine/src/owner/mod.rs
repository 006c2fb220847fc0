//! The socket by which other processes of this user reach an owner's runs: one JSON object per
//! line, one request per connection. Whoever listens to a model gets many replies to one request.

mod client;
mod listening;
mod socket;
mod sockets;
mod wire;

pub use client::{AskError, OwnerAddress, ask};
pub use listening::Listening;
pub use socket::OwnerSocket;
pub use sockets::{LONGEST_SOCKET_NAME, remove_abandoned_sockets};
pub use wire::{Extent, OwnerReply, OwnerRequest, Want};
