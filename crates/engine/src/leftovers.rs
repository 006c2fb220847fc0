//! What is left of a run when its keeper is gone, and how it is found: every process of a run
//! carries the run's mark in its environment.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use pi_subagents_delegation::RunId;
use pi_subagents_processes::{Stat, all_processes, carries, process_name, start_time};
use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use crate::keeper::{KEEPER_NAME, ProcessTree, signal_process};

/// The variable that names the run.
pub(crate) const RUN_MARK: &str = "PI_SUBAGENTS_RUN";

/// The variable that names the owner of the run.
pub(crate) const OWNER_MARK: &str = "PI_SUBAGENTS_OWNER";

/// The variables by which processes of runs are known: who is of no run must not have them.
pub const MARKS: [&str; 2] = [RUN_MARK, OWNER_MARK];

/// How soon is looked again: a process may fork while it is being killed.
const SWEEP_AGAIN: Duration = Duration::from_millis(5);

/// How often at most: a process that is not ours to kill would keep us here for ever.
const SWEEPS: u32 = 1000;

/// How often in a row nothing must be found: a process in the middle of becoming another program
/// can hide from one look.
const SWEEPS_IN_VAIN: u32 = 3;

/// How long the keeper of an owner that does not answer has to end its tree in order.
const KEEPERS_TURN: Duration = Duration::from_secs(3);

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
        Self::of(std::process::id())
    }

    /// What its runs are marked with.
    pub(crate) fn mark(self) -> String {
        format!("{}-{}", self.pid, self.start_time)
    }

    /// Returns the name of the process that has this number now; a dead one is nobody's name.
    pub(crate) fn of(pid: u32) -> Self {
        let start_time = start_time(pid).unwrap_or_default();
        Self { pid, start_time }
    }

    /// Tells whether it still lives.
    pub fn is_alive(self) -> bool {
        start_time(self.pid) == Some(self.start_time)
    }

    /// Tells whether it lives and was stopped: it does nothing until somebody continues it.
    pub fn is_stopped(self) -> bool {
        let stat = Stat::read(self.pid);
        stat.is_some_and(|stat| stat.start_time == self.start_time && stat.is_stopped)
    }
}

/// Kills whatever still carries the mark of this run, and its descendants; returns when nothing
/// does, with how many were killed.
pub fn end_leftovers(run: &RunId) -> usize {
    end_marked(&format!("{RUN_MARK}={run}"))
}

/// Ends a run whose owner does not answer: its keeper is told to, and what is still there after that
/// is killed. Returns when nothing is left.
pub fn end_without_owner(run: &RunId) {
    let mark = format!("{RUN_MARK}={run}");
    let marked = all_processes().filter(|pid| carries(*pid, &mark));
    let keepers: Vec<ProcessName> = marked
        .filter(|pid| is_keeper(*pid))
        .map(ProcessName::of)
        .collect();
    for keeper in &keepers {
        signal_process(*keeper, Signal::TERM);
        signal_process(*keeper, Signal::CONT);
    }
    let end = Instant::now() + KEEPERS_TURN;
    while keepers.iter().any(|keeper| keeper.is_alive()) && Instant::now() < end {
        std::thread::sleep(SWEEP_AGAIN);
    }
    end_leftovers(run);
}

/// Tells whether a process keeps a child.
fn is_keeper(pid: u32) -> bool {
    process_name(pid).is_some_and(|name| name == KEEPER_NAME)
}

/// Kills whatever carries this mark, and its descendants, until nothing does.
pub(crate) fn end_marked(mark: &str) -> usize {
    let mut killed = HashSet::new();
    let mut in_vain = 0;
    for _ in 0..SWEEPS {
        let others = all_processes().filter(|pid| *pid != std::process::id());
        let marked: Vec<u32> = others.filter(|pid| carries(*pid, mark)).collect();
        in_vain = if marked.is_empty() { in_vain + 1 } else { 0 };
        if in_vain == SWEEPS_IN_VAIN {
            break;
        }
        let tree = ProcessTree::look();
        for pid in marked {
            for process in tree.descendants(pid).into_iter().chain([pid]) {
                if tree.signal(process, Signal::KILL) {
                    killed.insert(process);
                }
            }
            reap(pid);
        }
        std::thread::sleep(SWEEP_AGAIN);
    }
    killed.len()
}

/// Reaps a process that became our child when its keeper was killed; one that is not our child
/// is reaped by its own parent.
pub(crate) fn reap(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        _ = waitpid(Some(pid), WaitOptions::empty());
    }
}
