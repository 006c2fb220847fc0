//! Which children of this process are ours by birth. All others were inherited from a keeper that
//! was killed, because an owner is a subreaper.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pi_subagents_processes::children;
use rustix::process::Signal;

use crate::ProcessName;
use crate::keeper::signal_all;
use crate::leftovers::reap;

/// How long strangers that fork all the time are followed.
const SWEEP_FOR: Duration = Duration::from_secs(2);

/// The children this process has started, and what is done with strangers among them.
#[derive(Debug, Clone)]
pub struct OwnChildren(Option<Arc<Mutex<HashSet<u32>>>>);

/// Something with a process of its own.
pub trait HasProcess {
    /// The process's number, while it lives.
    fn pid(&self) -> Option<u32>;
}

impl OwnChildren {
    /// For a process whose children are all started by the engine: strangers are ended.
    pub fn exclusive() -> Self {
        Self(Some(Arc::default()))
    }

    /// For a process that starts other children too: strangers are left alone.
    pub fn shared() -> Self {
        Self(None)
    }

    /// Starts a child; nobody looks for strangers between its birth and its entry here.
    pub fn start<T: HasProcess>(&self, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let mut known = self.lock();
        let started = start()?;
        if let (Some(known), Some(pid)) = (&mut known, started.pid()) {
            known.insert(pid);
        }
        Ok(started)
    }

    /// A child has ended and was reaped.
    pub fn ended(&self, pid: u32) {
        if let Some(mut known) = self.lock() {
            known.remove(&pid);
        }
    }

    /// Kills the children we did not start, and their descendants.
    pub(crate) fn end_strangers(&self) {
        let Some(known) = self.lock() else {
            return;
        };
        let end = Instant::now() + SWEEP_FOR;
        while Instant::now() < end {
            let own = children(std::process::id()).unwrap_or_default().into_iter();
            let strangers: Vec<u32> = own.filter(|child| !known.contains(child)).collect();
            if strangers.is_empty() {
                return;
            }
            for stranger in strangers {
                signal_all(stranger, Signal::KILL);
                ProcessName::of(stranger).kill();
                reap(stranger);
            }
        }
    }

    fn lock(&self) -> Option<MutexGuard<'_, HashSet<u32>>> {
        let known = self.0.as_ref()?;
        Some(known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl HasProcess for tokio::process::Child {
    fn pid(&self) -> Option<u32> {
        self.id()
    }
}
