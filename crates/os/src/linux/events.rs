//! File events, by inotify.

use std::future::pending;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use tokio::net::unix::pipe::Receiver;

use super::waitable;
use crate::{DirectoryWatch, Watched};

/// The changes of the files in some directories.
#[derive(Debug)]
pub struct FileEvents {
    descriptor: OwnedFd,
    ready: Receiver,
}

impl DirectoryWatch for FileEvents {
    fn new() -> io::Result<Self> {
        let descriptor = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Self {
            ready: waitable(descriptor.try_clone()?)?,
            descriptor,
        })
    }

    fn add(&self, directory: &Path, watched: Watched) -> io::Result<()> {
        let new = WatchFlags::CREATE | WatchFlags::MOVED_TO;
        let what = match watched {
            Watched::NewFiles => new,
            Watched::Everything => new | WatchFlags::MODIFY | WatchFlags::DELETE,
        };
        match inotify::add_watch(&self.descriptor, directory, what) {
            Ok(_) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn changed(&self) {
        let mut buffer = [0; 4096];
        loop {
            if self.ready.readable().await.is_err() {
                // Without an async runtime nobody waits any more.
                return pending().await;
            }
            let mut has_changed = false;
            // The files themselves show the change.
            while self.ready.try_read(&mut buffer).is_ok_and(|read| read > 0) {
                has_changed = true;
            }
            if has_changed {
                return;
            }
        }
    }
}
