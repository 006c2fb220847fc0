//! Ends what shell commands started, also what slipped out of its process group.
//!
//! The agent is a subreaper: a process that outlives its parent becomes our child, so
//! everything a command ever started is found below us in `/proc`.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pi_subagents_processes::carries;
use rustix::process::{Pid, Signal, WaitOptions};

/// How long a sweep goes on against processes that keep forking or will not die.
const PATIENCE: Duration = Duration::from_secs(2);

/// Makes orphans come back to this process instead of init.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // Without it only process groups are ended; nothing else depends on it.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// How many shells are at work in this process.
static AT_WORK: Mutex<usize> = Mutex::new(0);

/// A shell at work and everything it may start.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    /// A variable, with its value, in the environment of everything the shell starts.
    mark: String,
}

impl ProcessTree {
    /// To be called before the shell is started.
    pub(crate) fn enter(mark: String) -> Self {
        *at_work() += 1;
        Self { mark }
    }

    /// Kills everything the shell `leader` started; the shell itself is left to whoever
    /// waits for it.
    ///
    /// While other shells are at work, a process that left group and environment behind
    /// cannot be told from theirs; it is ended with the last of them.
    pub(crate) fn end_tree(&self, leader: u32) {
        if let Some(leader) = pid(leader) {
            let _ = rustix::process::kill_process_group(leader, Signal::KILL);
        }
        // Held until the end, so that no shell begins in the middle of the sweep.
        let at_work = at_work();
        let is_alone = *at_work == 1;
        end_while_any(|| {
            let mut found = descendants();
            found.retain(|id| *id != leader && (is_alone || carries(*id, &self.mark)));
            found
        });
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        *at_work() -= 1;
    }
}

fn at_work() -> MutexGuard<'static, usize> {
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every descendant until none is left, so that nothing survives the agent.
pub(crate) fn end_descendants() {
    end_while_any(descendants);
}

fn end_while_any(find: impl Fn() -> Vec<u32>) {
    let deadline = Instant::now() + PATIENCE;
    let mut killed: Vec<u32> = Vec::new();
    loop {
        for id in find() {
            kill(id);
            if !killed.contains(&id) {
                killed.push(id);
            }
        }
        // Gone means reaped, by us or by its own parent.
        killed.retain(|id| !is_reaped(*id));
        if killed.is_empty() || Instant::now() > deadline {
            return;
        }
        std::thread::yield_now();
    }
}

/// All processes below this one.
///
/// When a process dies during the walk, its children become ours, so our own list is read
/// again after the others: a child that was not found below its parent is found there.
fn descendants() -> Vec<u32> {
    let mut found = Vec::new();
    let mut walked = 0;
    loop {
        let ours = children(std::process::id());
        add_new(&mut found, ours);
        if walked == found.len() {
            return found;
        }
        while let Some(id) = found.get(walked).copied() {
            add_new(&mut found, children(id));
            walked += 1;
        }
    }
}

fn add_new(found: &mut Vec<u32>, ids: Vec<u32>) {
    for id in ids {
        if !found.contains(&id) {
            found.push(id);
        }
    }
}

/// The children of a process, dead ones included.
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel makes these files, and they are short"
)]
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else {
        return Vec::new();
    };
    let lists = threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            let ids: Vec<u32> = list
                .split_whitespace()
                .filter_map(|id| id.parse().ok())
                .collect();
            ids
        })
        .collect()
}

fn kill(id: u32) {
    if let Some(pid) = pid(id) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// Takes the status of a dead process if it has become our child.
fn is_reaped(id: u32) -> bool {
    let Some(pid) = pid(id) else {
        return true;
    };
    match rustix::process::waitpid(Some(pid), WaitOptions::NOHANG) {
        Ok(status) => status.is_some(),
        Err(_) => !Path::new(&format!("/proc/{id}")).exists(),
    }
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}
