//! What is left of a run when its keeper is gone, and how it is found: every process of a run
//! carries the run's mark in its environment.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use pi_subagents_delegation::RunId;
use pi_subagents_processes::{Stat, for_each_carrier, process_name, start_time};
use rustix::process::{Pid, Signal, WaitOptions, waitpid};

use crate::control_group::{end_groups_of_owner, end_groups_of_runs};
use crate::keeper::{KEEPER_NAME, descendants_now, signal_process};

/// The variable that names the run.
pub(crate) const RUN_MARK: &str = "PI_SUBAGENTS_RUN";

/// The variable that names the owner of the run.
pub(crate) const OWNER_MARK: &str = "PI_SUBAGENTS_OWNER";

/// The variables by which processes of runs are known: who is of no run must not have them.
pub const MARKS: [&str; 2] = [RUN_MARK, OWNER_MARK];

/// How soon is looked again: a process may fork while it is being killed.
const SWEEP_AGAIN: Duration = Duration::from_millis(5);

/// For how long at most: a process that cannot be killed would keep us here for ever.
const SWEEP_FOR: Duration = Duration::from_secs(3);

/// How long a killed child may take to be dead, and how often is looked.
const TO_DIE: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// How often in a row nothing must be found: a process in the middle of becoming another program
/// can hide from one look.
const SWEEPS_IN_VAIN: u32 = 3;

/// How long the keeper of an owner that does not answer has to end its tree in order.
const KEEPERS_TURN: Duration = Duration::from_secs(3);

/// A process, named so that a newcomer with the same number is not taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

    /// The name of the process that started this one, as long as that lives.
    pub(crate) fn of_parent() -> Self {
        let own = Stat::read(std::process::id());
        Self::of(own.map(|stat| stat.parent).unwrap_or_default())
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

/// Kills whatever still carries the mark of one of these runs or is in its control group, and their
/// descendants; returns when nothing does, with how many were killed.
pub fn end_leftovers(runs: &[RunId]) -> usize {
    if runs.is_empty() {
        return 0;
    }
    end_groups_of_runs(runs);
    let marks = runs.iter().map(|run| format!("{RUN_MARK}={run}"));
    end_marked(&marks.collect::<Vec<String>>())
}

/// Kills whatever is left of an owner that is gone.
pub(crate) fn end_leftovers_of_owner(owner: &str) {
    end_groups_of_owner(owner);
    end_marked(&[format!("{OWNER_MARK}={owner}")]);
}

/// Ends a run whose owner does not answer: its keeper is told to, and what is still there after that
/// is killed. Returns when nothing is left.
pub fn end_without_owner(run: &RunId) {
    let mark = format!("{RUN_MARK}={run}");
    let mut keepers: Vec<ProcessName> = Vec::new();
    for_each_carrier(vec![mark], |pid| {
        if is_keeper(pid) {
            keepers.push(ProcessName::of(pid));
        }
    });
    for keeper in &keepers {
        signal_process(*keeper, Signal::TERM);
        signal_process(*keeper, Signal::CONT);
    }
    let end = Instant::now() + KEEPERS_TURN;
    while keepers.iter().any(|keeper| keeper.is_alive()) && Instant::now() < end {
        std::thread::sleep(SWEEP_AGAIN);
    }
    end_leftovers(std::slice::from_ref(run));
}

/// Tells whether a process keeps a child.
fn is_keeper(pid: u32) -> bool {
    process_name(pid).is_some_and(|name| name == KEEPER_NAME)
}

/// Kills whatever carries one of these marks, and its descendants, until nothing does.
fn end_marked(marks: &[String]) -> usize {
    let end = Instant::now() + SWEEP_FOR;
    let mut killed = HashSet::new();
    let mut in_vain = 0;
    while in_vain < SWEEPS_IN_VAIN && Instant::now() < end {
        in_vain += 1;
        for_each_carrier(marks.to_vec(), |pid| {
            if pid == std::process::id() {
                return;
            }
            in_vain = 0;
            let below = descendants_now(pid);
            for process in [pid].into_iter().chain(below).map(ProcessName::of) {
                if signal_process(process, Signal::KILL) {
                    killed.insert(process);
                }
            }
            reap(pid);
        });
        std::thread::sleep(SWEEP_AGAIN);
    }
    killed.len()
}

/// Reaps a process that was killed and became our child when its keeper was; one that is not our
/// child is reaped by its own parent.
pub(crate) fn reap(pid: u32) {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return;
    };
    let end = Instant::now() + TO_DIE;
    while matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)) && Instant::now() < end {
        std::thread::sleep(LOOK_AGAIN);
    }
}
