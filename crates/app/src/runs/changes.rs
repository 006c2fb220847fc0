//! Waits until something happens to files or to a process, without looking again and again.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use pi_subagents_engine::ProcessName;
use pi_subagents_sessions::OwnerName;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::net::unix::pipe::Receiver;

use crate::runs::owned::this_host;

/// Directories in which files may appear, be replaced, grow or go.
pub(crate) struct Changes {
    events: OwnedFd,
    ready: Receiver,
}

impl Changes {
    pub(crate) fn new() -> io::Result<Self> {
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Self {
            ready: waitable(events.try_clone()?)?,
            events,
        })
    }

    /// Tells whether the system gives file events, now.
    pub(crate) fn are_offered() -> bool {
        inotify::init(CreateFlags::CLOEXEC).is_ok()
    }

    /// Watches one more directory: for new files, for files that grow, and for files that go.
    pub(crate) fn watch(&self, directory: &Path) -> io::Result<()> {
        let what =
            WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::MODIFY | WatchFlags::DELETE;
        inotify::add_watch(&self.events, directory, what)?;
        Ok(())
    }

    /// Watches one more directory for new files only.
    pub(crate) fn watch_for_new(&self, directory: &Path) -> io::Result<()> {
        let what = WatchFlags::CREATE | WatchFlags::MOVED_TO;
        inotify::add_watch(&self.events, directory, what)?;
        Ok(())
    }

    /// Waits until something has happened in any of them; what happened at once is one change.
    pub(crate) async fn next(&self) {
        let mut buffer = [0; 4096];
        loop {
            if self.ready.readable().await.is_err() {
                // Without an async runtime nobody waits any more.
                return std::future::pending().await;
            }
            let mut has_changed = false;
            // What exactly has happened is seen by looking at the files.
            while self.ready.try_read(&mut buffer).is_ok_and(|read| read > 0) {
                has_changed = true;
            }
            if has_changed {
                return;
            }
        }
    }
}

/// What can be waited for like a pipe, although it is none.
fn waitable(descriptor: OwnedFd) -> io::Result<Receiver> {
    Receiver::from_owned_fd_unchecked(descriptor)
}

/// Waits until an owner is gone. Of one on another machine that is never known.
pub(crate) async fn owner_gone(owner: &OwnerName) {
    if owner.host != this_host() {
        return std::future::pending().await;
    }
    let name = ProcessName {
        pid: owner.pid,
        start_time: owner.start_time,
    };
    let exit = process(owner.pid).and_then(waitable);
    // The number may have gone to a newcomer before we held on to it.
    if name.is_alive() {
        match exit {
            Ok(exit) => _ = exit.readable().await,
            Err(_) => std::future::pending().await,
        }
    }
}

fn process(pid: u32) -> io::Result<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    Ok(pidfd_open(pid.ok_or(Errno::SRCH)?, PidfdFlags::empty())?)
}
