//! Ends the processes that shell commands started, also those that left their process group.
//!
//! The agent is a subreaper: a process that outlives its parent becomes our child, so everything a
//! command ever started is found below us in `/proc`.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pi_subagents_os::{ProcessName, Stat, carries, descendants, reap};
use rustix::process::{Pid, Signal, kill_process_group};

/// The time for which a sweep goes on against processes that keep forking or will not die.
const PATIENCE: Duration = Duration::from_secs(2);

/// Makes orphans come back to this process instead of init.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // Without it only process groups are ended; nothing else depends on it.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

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
            let has_group = found.iter().any(|process| is_in_group(*process, leader));
            if has_group {
                end_group(leader);
            }
            found.retain(|process| {
                let is_of_shell =
                    || is_in_group(*process, leader) || carries(process.pid, &self.mark);
                process.pid != leader && (is_alone || is_of_shell())
            });
            found
        });
    }
}

impl Drop for ShellTree {
    fn drop(&mut self) {
        *at_work() -= 1;
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

fn is_in_group(process: ProcessName, group: u32) -> bool {
    let stat = Stat::read(process.pid);
    stat.is_some_and(|stat| stat.start_time == process.start_time && stat.group == Some(group))
}

/// Kills a process group at once, even if processes in it fork meanwhile.
#[expect(
    clippy::disallowed_methods,
    reason = "a group that one of our descendants is in cannot be a stranger's"
)]
fn end_group(leader: u32) {
    if let Some(leader) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // The last of its processes may just have ended.
        _ = kill_process_group(leader, Signal::KILL);
    }
}
