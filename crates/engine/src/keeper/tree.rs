//! Which processes descend from which: a look into `/proc`.

use std::collections::HashMap;
use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The flag of a thread of the kernel in its `stat`.
const OF_KERNEL: u32 = 0x0020_0000;

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

/// When a process started, in ticks since boot: together with its pid it names it for good.
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    let stat = Stat::read(pid)?;
    (!stat.is_zombie).then_some(stat.start_time)
}

/// Tells whether a process that shows no environment may show one soon: not a dead one, not a
/// thread of the kernel, and not one that was started without any.
pub(crate) fn may_have_environment(pid: u32) -> bool {
    Stat::read(pid).is_some_and(|stat| {
        let is_without = stat.environment.0 == stat.environment.1 && stat.environment.0 != 0;
        !(stat.is_zombie || stat.is_of_kernel || is_without)
    })
}

/// All process ids of this moment.
pub(crate) fn all_processes() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

#[derive(Debug, Clone, Copy)]
struct Stat {
    parent: u32,
    is_zombie: bool,
    start_time: u64,
    is_of_kernel: bool,
    /// Where its environment begins and ends; 0 while it becomes another program.
    environment: (u64, u64),
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may itself hold spaces and parentheses.
        let (_, after_name) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = after_name.split(' ').collect();
        Some(Self {
            is_zombie: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            start_time: fields.get(19)?.parse().ok()?,
            is_of_kernel: fields.get(6)?.parse::<u32>().ok()? & OF_KERNEL != 0,
            environment: (fields.get(47)?.parse().ok()?, fields.get(48)?.parse().ok()?),
        })
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

    #[test]
    fn only_a_living_process_has_a_start_time() {
        assert!(start_time(std::process::id()).is_some());
        assert_eq!(start_time(u32::MAX), None);
    }
}
