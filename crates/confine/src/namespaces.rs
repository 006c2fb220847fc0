//! Namespaces of the process: users, mounts, shared memory, and the network.

use std::fs;
use std::io;

use nix::sched::{CloneFlags, unshare};
use rustix::process::{getgid, getuid};

/// Whether a child shares the network of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NetworkNamespace {
    Shared,
    Own,
}

/// Gives this process, which must have one thread, namespaces of its own.
pub(crate) fn enter(network: NetworkNamespace) -> io::Result<()> {
    let mut flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    match network {
        NetworkNamespace::Shared => {}
        NetworkNamespace::Own => flags |= CloneFlags::CLONE_NEWNET,
    }
    Ok(unshare(flags)?)
}

/// The user and the group of this process. They are read before it enters a namespace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity {
    user: u32,
    group: u32,
}

impl Identity {
    pub(crate) fn of_this_process() -> Self {
        Self {
            user: getuid().as_raw(),
            group: getgid().as_raw(),
        }
    }

    /// Keeps the numbers of the user and the group in the namespace.
    pub(crate) fn keep(self) -> io::Result<()> {
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{0} {0} 1", self.user))?;
        fs::write("/proc/self/gid_map", format!("{0} {0} 1", self.group))
    }
}
