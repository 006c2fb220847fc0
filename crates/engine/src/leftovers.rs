//! What is left of a run when its keeper is gone, and how it is found: every process of a run
//! carries the run's mark in its environment.

use std::fs;

use pi_subagents_delegation::RunId;
use rustix::process::{Signal, WaitOptions, waitpid};

use crate::keeper::{ProcessTree, all_processes, start_time};

/// The variable that names the run.
pub(crate) const RUN_MARK: &str = "PI_SUBAGENTS_RUN";

/// A process, named so that a newcomer with the same number is not taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessName {
    /// Its number.
    pub pid: u32,
    /// When it started, in ticks since boot.
    pub start_time: u64,
}

impl ProcessName {
    /// The name of the process we are.
    pub fn of_this_process() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start_time: start_time(pid).unwrap_or_default(),
        }
    }

    /// Tells whether it still lives.
    pub fn is_alive(self) -> bool {
        start_time(self.pid) == Some(self.start_time)
    }
}

/// Kills whatever still carries the mark of this run, and its descendants; returns when nothing
/// does, with how many were killed.
pub fn end_leftovers(run: &RunId) -> usize {
    let mark = format!("{RUN_MARK}={run}");
    let mut killed = 0;
    loop {
        let marked: Vec<u32> = all_processes().filter(|pid| carries(*pid, &mark)).collect();
        if marked.is_empty() {
            return killed;
        }
        let tree = ProcessTree::look();
        let mut heard = 0;
        for pid in marked {
            heard += tree.signal_descendants(pid, Signal::KILL);
            heard += usize::from(tree.signal(pid, Signal::KILL));
            reap(pid);
        }
        // Those that are not ours to kill would keep us here for ever.
        if heard == 0 {
            return killed;
        }
        killed += heard;
    }
}

/// A living process with the mark; zombies have no environment any more.
fn carries(pid: u32, mark: &str) -> bool {
    pid != std::process::id()
        && fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == mark.as_bytes())
        })
}

/// Orphans become ours when their keeper is killed, because the owner is a subreaper too.
fn reap(pid: u32) {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    // A process that is not our child is reaped by its own parent.
    _ = waitpid(pid, WaitOptions::empty());
}
