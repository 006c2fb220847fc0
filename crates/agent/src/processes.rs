//! Ends the processes that shell commands started, also those that left their process group.
//!
//! Where the agent adopts orphans, a process that outlives its parent becomes our child, so
//! everything a command ever started is found below us. Elsewhere it is looked for by its mark too.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use pi_subagents_os::{
    Adoption, ProcessName, Processes as _, System, carries, descendants, for_each_carrier,
    kill_group, reap,
};

/// The time for which a sweep goes on against processes that keep forking or will not die.
const PATIENCE: Duration = Duration::from_secs(2);

/// Makes orphans come back to this process instead of init.
pub(crate) fn adopt_orphans() {
    // A process that has become their parent stays it.
    _ = ADOPTION.set(System::adopt_orphans().unwrap_or(Adoption::Nobody));
}

/// The new parent of the orphans of commands.
static ADOPTION: OnceLock<Adoption> = OnceLock::new();

/// The number of shells at work in this process.
static AT_WORK: Mutex<usize> = Mutex::new(0);

/// A shell at work and everything it may start.
#[derive(Debug)]
pub(crate) struct ShellTree {
    /// A variable, with its value, in the environment of everything the shell starts.
    mark: String,
}

impl ShellTree {
    /// Counts one more shell at work. To be called before the shell is started.
    pub(crate) fn enter(mark: String) -> Self {
        *at_work() += 1;
        Self { mark }
    }

    /// Kills everything the shell `leader` started; the shell itself is left to its waiter.
    ///
    /// While other shells are at work, a process that left group and environment behind cannot be
    /// told from theirs; it is ended with the last of them.
    pub(crate) fn end_tree(&self, leader: u32) {
        // Held until the end, so that no shell begins in the middle of the sweep.
        let at_work = at_work();
        let is_alone = *at_work == 1;
        end_while_any(|| {
            let mut found = own_descendants();
            leave_kept(&mut found);
            if found.iter().any(|process| process.is_in_group(leader)) {
                // One of our descendants is in the group, so it cannot be a stranger's.
                kill_group(leader);
            }
            found.extend(self.orphans());
            found.retain(|process| {
                let is_of_shell =
                    || process.is_in_group(leader) || carries(process.pid, &self.mark);
                process.pid != leader && (is_alone || is_of_shell())
            });
            found
        });
    }
}

impl ShellTree {
    /// Returns the processes that carry the mark of the shell, where orphans do not become ours.
    fn orphans(&self) -> Vec<ProcessName> {
        let mut found = Vec::new();
        match ADOPTION.get() {
            Some(Adoption::Ours) | None => {}
            Some(Adoption::Nobody) => {
                for_each_carrier(vec![self.mark.clone()], |pid| {
                    found.extend(ProcessName::of_living(pid));
                });
            }
        }
        found
    }
}

impl Drop for ShellTree {
    fn drop(&mut self) {
        *at_work() -= 1;
    }
}

/// The leaders of processes that stay until the agent ends.
static KEPT: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// A process that stays, with everything below it, while shells come and go.
#[derive(Debug)]
pub(crate) struct KeptTree {
    leader: u32,
}

impl KeptTree {
    pub(crate) fn of(leader: u32) -> Self {
        kept().push(leader);
        Self { leader }
    }
}

impl Drop for KeptTree {
    fn drop(&mut self) {
        let mut kept = kept();
        if let Some(place) = kept.iter().position(|leader| *leader == self.leader) {
            kept.swap_remove(place);
        }
        kill_group(self.leader);
    }
}

fn kept() -> MutexGuard<'static, Vec<u32>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the processes that stay out of a list.
fn leave_kept(found: &mut Vec<ProcessName>) {
    for leader in kept().iter() {
        let below: HashSet<u32> = descendants(*leader).iter().map(|one| one.pid).collect();
        found.retain(|one| one.pid != *leader && !below.contains(&one.pid));
    }
}

fn at_work() -> MutexGuard<'static, usize> {
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every descendant until no process is left, so that nothing survives the agent.
pub(crate) fn end_descendants() {
    end_while_any(own_descendants);
}

fn end_while_any(find: impl Fn() -> Vec<ProcessName>) {
    let deadline = Instant::now() + PATIENCE;
    let mut killed: HashSet<ProcessName> = HashSet::new();
    loop {
        for process in find() {
            process.kill();
            killed.insert(process);
        }
        killed.retain(|process| !reap(process.pid));
        if killed.is_empty() || Instant::now() > deadline {
            return;
        }
        std::thread::yield_now();
    }
}

fn own_descendants() -> Vec<ProcessName> {
    descendants(std::process::id())
}
