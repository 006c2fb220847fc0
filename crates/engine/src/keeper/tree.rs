//! Which processes descend from which, and where signals are sent.

use std::collections::HashMap;

use pi_subagents_processes::{Stat, all_processes};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::ProcessName;

/// How often a tree is looked at until all of it is stopped: a process may fork meanwhile.
const LOOKS_TO_STOP: u32 = 50;

/// All processes of this moment.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    processes: HashMap<u32, Stat>,
    children: HashMap<u32, Vec<u32>>,
}

impl ProcessTree {
    /// Looks at all processes there are.
    pub(crate) fn look() -> Self {
        let processes: HashMap<u32, Stat> = all_processes()
            .filter_map(|pid| Some((pid, Stat::read(pid)?)))
            .collect();
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for (pid, stat) in &processes {
            children.entry(stat.parent).or_default().push(*pid);
        }
        Self {
            processes,
            children,
        }
    }

    /// The children of a process.
    pub(crate) fn children(&self, parent: u32) -> &[u32] {
        self.children.get(&parent).map_or(&[], Vec::as_slice)
    }

    /// Children, grandchildren and so on of a process, parents before their children.
    pub(crate) fn descendants(&self, ancestor: u32) -> Vec<u32> {
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

    /// Sends a signal to all descendants of a process; tells how many heard it.
    pub(crate) fn signal_descendants(&self, ancestor: u32, signal: Signal) -> usize {
        let descendants = self.descendants(ancestor);
        descendants
            .into_iter()
            .filter(|pid| self.signal(*pid, signal))
            .count()
    }

    /// Sends a signal to a process of this tree.
    pub(crate) fn signal(&self, pid: u32, signal: Signal) -> bool {
        let name = self.name(pid);
        name.is_some_and(|name| signal_process(name, signal))
    }

    fn name(&self, pid: u32) -> Option<ProcessName> {
        let start_time = self.processes.get(&pid)?.start_time;
        Some(ProcessName { pid, start_time })
    }

    /// Returns the descendants that nobody has stopped.
    fn going(&self, ancestor: u32) -> impl Iterator<Item = ProcessName> {
        let is_going = |pid: &u32| {
            let stat = self.processes.get(pid);
            stat.is_some_and(|stat| !(stat.is_stopped || stat.is_zombie))
        };
        let descendants = self.descendants(ancestor).into_iter();
        descendants
            .filter(is_going)
            .filter_map(|pid| self.name(pid))
    }
}

/// Stops all descendants of a process; returns those that were not stopped before.
pub(crate) fn stop_descendants(ancestor: u32) -> Vec<ProcessName> {
    let mut stopped: Vec<ProcessName> = Vec::new();
    for _ in 0..LOOKS_TO_STOP {
        let tree = ProcessTree::look();
        let new: Vec<ProcessName> = tree
            .going(ancestor)
            .filter(|name| !stopped.contains(name))
            .collect();
        if new.is_empty() {
            break;
        }
        for name in new {
            signal_process(name, Signal::STOP);
            stopped.push(name);
        }
    }
    stopped
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
    }
}
