//! Kills the leftovers of a run whose keeper is gone. Its processes are found by the run's mark in
//! their environment, and by what else the system knows of it.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use pi_subagents_os::{
    Kin as _, ProcessName, Processes as _, RunTree, Signal, System, descendants, for_each_carrier,
    reap_killed,
};
use pi_subagents_vocabulary::RunId;
use tracing::info;

use crate::keeper::KEEPER_NAME;
use crate::launcher::Launcher;
use crate::marks::{OWNER_MARK, RUN_MARK};

/// The pause between two looks: a process may fork while it is being killed.
const SWEEP_AGAIN: Duration = Duration::from_millis(5);

/// The longest time of a sweep: a process that cannot be killed would keep us here for ever.
const SWEEP_FOR: Duration = Duration::from_secs(3);

/// The number of looks in a row that must find nothing: a process in the middle of becoming another
/// program can hide from one look.
const SWEEPS_IN_VAIN: u32 = 3;

/// The time that the keeper of an owner which does not answer has to end its tree in order.
const KEEPERS_TURN: Duration = Duration::from_secs(3);

/// Kills every process that carries the mark of one of these runs or that the system counts among
/// its processes, and the descendants of these processes. Returns the number of killed processes, when no process is
/// left.
pub fn end_leftovers(runs: &[RunId]) -> usize {
    if runs.is_empty() {
        return 0;
    }
    RunTree::end_runs(&runs.iter().map(RunId::as_str).collect::<Vec<&str>>());
    let marks = runs.iter().map(|run| format!("{RUN_MARK}={run}"));
    end_marked(&marks.collect::<Vec<String>>())
}

/// Ends the processes that this owner has inherited from the dead keeper of a run. Returns when no
/// process is left.
pub(crate) async fn end_inherited(launcher: &Launcher, run: &RunId) {
    let (run, known_children) = (run.clone(), launcher.known_children.clone());
    // The task cannot fail: it does not panic and nobody aborts it.
    _ = tokio::task::spawn_blocking(move || {
        end_leftovers(std::slice::from_ref(&run));
        known_children.end_unknown();
    })
    .await;
}

/// Kills the leftovers of all runs of an owner that is gone.
pub(crate) fn end_leftovers_of_owner(owner: &str) {
    RunTree::end_owner(owner);
    end_marked(&[format!("{OWNER_MARK}={owner}")]);
}

/// Ends a run whose owner does not answer: sends SIGTERM to its keeper, and kills the processes
/// that are still there after that. Returns when no process is left.
pub fn end_without_owner(run: &RunId) {
    let mark = format!("{RUN_MARK}={run}");
    let mut keepers: Vec<ProcessName> = Vec::new();
    for_each_carrier(vec![mark], |pid| {
        if is_keeper(pid) {
            keepers.push(ProcessName::of(pid));
        }
    });
    for keeper in &keepers {
        keeper.signal(Signal::TERM);
        keeper.signal(Signal::CONT);
    }
    let end = Instant::now() + KEEPERS_TURN;
    while keepers.iter().any(|keeper| keeper.is_alive()) && Instant::now() < end {
        std::thread::sleep(SWEEP_AGAIN);
    }
    end_leftovers(std::slice::from_ref(run));
}

/// Returns whether a process is a keeper.
fn is_keeper(pid: u32) -> bool {
    System::shown_name(pid).is_some_and(|name| name == KEEPER_NAME)
}

/// Kills every process that carries one of these marks, and its descendants, until a look finds no
/// process. Returns the number of killed processes.
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
            let below = descendants(pid);
            for process in [ProcessName::of(pid)].into_iter().chain(below) {
                if process.signal(Signal::KILL) {
                    killed.insert(process);
                }
            }
            reap_killed(pid);
        });
        std::thread::sleep(SWEEP_AGAIN);
    }
    if !killed.is_empty() {
        info!(killed = killed.len(), ?marks, "leftovers killed");
    }
    killed.len()
}
