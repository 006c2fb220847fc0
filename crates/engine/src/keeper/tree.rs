//! Which processes descend from which, and where signals are sent.

use std::collections::HashMap;

use pi_subagents_processes::{Stat, all_processes};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

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

    /// Sends a signal to a process of this tree. The descriptor pins the process, and the second
    /// look makes sure that it is not a newcomer with the same number.
    pub(crate) fn signal(&self, pid: u32, signal: Signal) -> bool {
        let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return false;
        };
        let Ok(descriptor) = pidfd_open(process, PidfdFlags::empty()) else {
            return false;
        };
        let is_same = match (self.processes.get(&pid), Stat::read(pid)) {
            (Some(seen), Some(now)) => seen.start_time == now.start_time && !now.is_zombie,
            _ => false,
        };
        is_same && pidfd_send_signal(descriptor, signal).is_ok()
    }
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
