//! Ends what shell commands started, also what slipped out of its process group.
//!
//! The agent is a subreaper: a process that outlives its parent becomes our child, so
//! everything a command ever started is found below us in `/proc`.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};

/// How long a sweep goes on against processes that keep forking or will not die.
const PATIENCE: Duration = Duration::from_secs(2);

/// Makes orphans come back to this process instead of init.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // Without it only process groups are ended; nothing else depends on it.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Kills a process group.
pub(crate) fn end_group(leader: u32) {
    if let Some(leader) = pid(leader) {
        let _ = rustix::process::kill_process_group(leader, Signal::KILL);
    }
}

/// Kills every descendant whose environment holds `mark`, in whatever session it hides.
pub(crate) fn end_marked(mark: &str) {
    end_while_any(|| {
        let all = descendants().into_iter();
        all.filter(|id| carries(*id, mark)).collect()
    });
}

/// Kills every descendant until none is left, so that nothing survives the agent.
pub(crate) fn end_descendants() {
    end_while_any(descendants);
}

fn end_while_any(find: impl Fn() -> Vec<u32>) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = find();
        if left.is_empty() || Instant::now() > deadline {
            return;
        }
        left.iter().copied().for_each(kill);
        for id in left {
            reap(id, WaitOptions::NOHANG);
        }
        std::thread::yield_now();
    }
}

/// All processes below this one, nearest first.
fn descendants() -> Vec<u32> {
    let mut found = children(std::process::id());
    let mut next = 0;
    while let Some(id) = found.get(next).copied() {
        found.extend(children(id));
        next += 1;
    }
    found
}

fn children(parent: u32) -> Vec<u32> {
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

fn carries(id: u32, mark: &str) -> bool {
    fs::read(format!("/proc/{id}/environ"))
        .is_ok_and(|variables| variables.split(|byte| *byte == 0).any(|one| one == mark.as_bytes()))
}

fn kill(id: u32) {
    if let Some(pid) = pid(id) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// Takes the status of an adopted child; what is not our child is its parent's business.
fn reap(id: u32, options: WaitOptions) {
    if let Some(pid) = pid(id) {
        let _ = rustix::process::waitpid(Some(pid), options);
    }
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}
