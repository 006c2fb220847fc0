//! The answers of Linux.

mod control_group;
mod descriptors;
mod disk;
mod environment;
mod events;
mod family;
mod kernel_files;
mod machine;
mod processes;
mod stat;

use std::io;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe::Receiver;

pub use environment::MarkReader;
pub use events::FileEvents;
pub use family::RunTree;
pub use kernel_files::keeps_readers_waiting;

/// Makes a descriptor that is no pipe wait like one.
fn waitable(descriptor: OwnedFd) -> io::Result<Receiver> {
    Receiver::from_owned_fd_unchecked(descriptor)
}
