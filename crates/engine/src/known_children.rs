//! The children that this process has started itself. All others were inherited from a keeper that
//! was killed, because an owner adopts orphans where the system lets it.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use pi_subagents_os::{
    ProcessName, Signal, Startable, children, is_program_keeper, reap_killed, signal_descendants,
    start,
};

/// The time for which unknown children that fork all the time are followed.
const SWEEP_FOR: Duration = Duration::from_secs(2);

/// The children that this process has started. Unknown children beside them are killed or left
/// alone, depending on how the list was made.
#[derive(Debug, Clone)]
pub struct KnownChildren(Option<Arc<Mutex<HashSet<u32>>>>);

/// The list of a process that kills unknown children.
static OWN: OnceLock<Arc<Mutex<HashSet<u32>>>> = OnceLock::new();

/// Something with a process of its own.
pub trait HasProcess {
    /// Returns the number of the process, while it lives.
    fn pid(&self) -> Option<u32>;
}

impl KnownChildren {
    /// Makes the list of a process that starts all its children through it: children that are
    /// not on it are killed. A process has one such list, whoever asks for it.
    pub fn kill_unknown() -> Self {
        Self(Some(Arc::clone(OWN.get_or_init(Arc::default))))
    }

    /// Returns the list of this process: the one of an owner that kills unknown children, if this
    /// process has become such an owner.
    pub fn of_this_process() -> Self {
        Self(OWN.get().cloned())
    }

    /// Makes the list of a process that has other children too: children that are not on it are
    /// left alone.
    pub fn spare_unknown() -> Self {
        Self(None)
    }

    /// Starts a child and puts it on the list. Nobody looks for unknown children meanwhile.
    pub fn start<C>(&self, command: &mut C) -> io::Result<C::Child>
    where
        C: Startable<Child: HasProcess>,
    {
        self.start_with(|| start(command))
    }

    /// Does the same for something that starts its process itself.
    pub(crate) fn start_with<T: HasProcess>(
        &self,
        start: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let mut known = self.lock();
        let started = start()?;
        if let (Some(known), Some(pid)) = (&mut known, started.pid()) {
            known.insert(pid);
        }
        Ok(started)
    }

    /// Takes a child off the list, because it has ended and was reaped.
    pub fn ended(&self, pid: u32) {
        if let Some(mut known) = self.lock() {
            known.remove(&pid);
        }
    }

    /// Kills the children that are not on the list, and their descendants.
    pub fn end_unknown(&self) {
        let Some(known) = self.lock() else {
            return;
        };
        let end = Instant::now() + SWEEP_FOR;
        while Instant::now() < end {
            let own = children(std::process::id()).into_iter();
            let is_ours = |child: &u32| known.contains(child) || is_program_keeper(*child);
            let unknown: Vec<u32> = own.filter(|child| !is_ours(child)).collect();
            if unknown.is_empty() {
                return;
            }
            for child in unknown {
                signal_descendants(child, Signal::KILL);
                ProcessName::of(child).kill();
                reap_killed(child);
            }
        }
    }

    fn lock(&self) -> Option<MutexGuard<'_, HashSet<u32>>> {
        let known = self.0.as_ref()?;
        Some(known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl HasProcess for std::process::Child {
    fn pid(&self) -> Option<u32> {
        Some(self.id())
    }
}

impl HasProcess for tokio::process::Child {
    fn pid(&self) -> Option<u32> {
        self.id()
    }
}
