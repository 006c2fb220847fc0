//! Which processes descend from which, and where signals are sent.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use pi_subagents_processes::{Stat, all_processes, children};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::ProcessName;

/// How long a tree that grows all the time is followed in one go.
const TO_FOLLOW: Duration = Duration::from_millis(100);

/// No tree is followed beyond so many processes in one look.
const MOST_DESCENDANTS: usize = 100_000;

/// All processes of this moment, for systems that do not tell the children of one.
#[derive(Debug)]
struct ProcessTree {
    children: HashMap<u32, Vec<u32>>,
}

impl ProcessTree {
    /// Looks at all processes there are.
    fn look() -> Self {
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for pid in all_processes() {
            if let Some(stat) = Stat::read(pid) {
                children.entry(stat.parent).or_default().push(pid);
            }
        }
        Self { children }
    }

    /// Children, grandchildren and so on of a process, parents before their children.
    fn descendants(&self, ancestor: u32) -> Vec<u32> {
        let mut found = vec![ancestor];
        let mut next = 0;
        while next < found.len() {
            if let Some(children) = self.children.get(&found[next]) {
                found.extend(children);
            }
            next += 1;
        }
        found.remove(0);
        found
    }
}

/// Sends a signal to all descendants of a process, until a look finds nobody who has not had it: one
/// that forks all the time is followed, because a look takes less time than most processes live.
/// Returns how many had it.
pub(crate) fn signal_all(ancestor: u32, signal: Signal) -> usize {
    signal_while_new(ancestor, signal, |_| true).len()
}

/// Stops all descendants of a process; returns those that were not stopped before.
pub(crate) fn stop_all(ancestor: u32) -> HashSet<ProcessName> {
    signal_while_new(ancestor, Signal::STOP, |process| !process.is_stopped())
}

fn signal_while_new(
    ancestor: u32,
    signal: Signal,
    is_meant: impl Fn(ProcessName) -> bool,
) -> HashSet<ProcessName> {
    let end = Instant::now() + TO_FOLLOW;
    let mut reached = HashSet::new();
    loop {
        let mut is_any_new = false;
        for process in descendants_now(ancestor).into_iter().map(ProcessName::of) {
            if !reached.contains(&process) && is_meant(process) && signal_process(process, signal) {
                reached.insert(process);
                is_any_new = true;
            }
        }
        if !is_any_new || Instant::now() >= end {
            return reached;
        }
    }
}

/// The descendants of a process in this moment.
pub(crate) fn descendants_now(ancestor: u32) -> Vec<u32> {
    let Some(mut found) = children(ancestor) else {
        return ProcessTree::look().descendants(ancestor);
    };
    let mut next = 0;
    while next < found.len() && found.len() < MOST_DESCENDANTS {
        found.extend(children(found[next]).unwrap_or_default());
        next += 1;
    }
    found
}

/// Sends a signal to a process. The descriptor pins the process, and the look after it makes sure
/// that it is not a newcomer with the same number.
pub(crate) fn signal_process(name: ProcessName, signal: Signal) -> bool {
    let Some(process) = i32::try_from(name.pid).ok().and_then(Pid::from_raw) else {
        return false;
    };
    let Ok(descriptor) = pidfd_open(process, PidfdFlags::empty()) else {
        return false;
    };
    name.is_alive() && pidfd_send_signal(descriptor, signal).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_descend_from_our_parent() {
        let tree = ProcessTree::look();
        let parent = rustix::process::getppid().unwrap();
        let parent = u32::try_from(parent.as_raw_nonzero().get()).unwrap();
        assert!(tree.descendants(parent).contains(&std::process::id()));
        assert!(!tree.descendants(std::process::id()).contains(&parent));
        assert!(descendants_now(parent).contains(&std::process::id()));
    }
}
