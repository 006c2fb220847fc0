//! Finds the descendants of a process, and sends signals to all of them.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::{ProcessLook, ProcessName, Processes as _, System};

/// The time for which a growing tree is followed in one go.
const TO_FOLLOW: Duration = Duration::from_millis(100);

/// A look at a tree ends at this number of processes.
const MOST_DESCENDANTS: usize = 100_000;

/// Returns the children, grandchildren and so on of a process, parents before their children. Dead
/// processes that nobody has reaped yet are included.
///
/// If a process dies during the walk, its children become children of a subreaper. So the list of
/// the ancestor is read again at the end: a subreaper finds there the processes that it has
/// inherited.
pub fn descendants(ancestor: u32) -> Vec<ProcessName> {
    if System::listed_children(ancestor).is_none() {
        let all = children_of_all();
        return walk(ancestor, |pid| all.get(&pid).cloned(), System::look);
    }
    walk(ancestor, System::listed_children, System::look)
}

/// Returns the children of a process.
pub fn children(pid: u32) -> Vec<u32> {
    System::listed_children(pid)
        .unwrap_or_else(|| children_of_all().remove(&pid).unwrap_or_default())
}

/// Sends a signal to all descendants of a process, until a look finds only processes that have got
/// it. A process that forks all the time is followed, because a look takes less time than most
/// processes live. Returns how many processes got the signal.
pub fn signal_descendants(ancestor: u32, signal: Signal) -> usize {
    signal_while_new(|| descendants(ancestor), signal, |_| true).len()
}

/// Sends a signal to the processes that are meant, until a look finds none that has not got it.
/// Returns the processes that got it.
pub(crate) fn signal_while_new(
    mut look: impl FnMut() -> Vec<ProcessName>,
    signal: Signal,
    is_meant: impl Fn(ProcessName) -> bool,
) -> HashSet<ProcessName> {
    let end = Instant::now() + TO_FOLLOW;
    let mut reached = HashSet::new();
    loop {
        let mut is_any_new = false;
        for process in look() {
            if !reached.contains(&process) && is_meant(process) && process.signal(signal) {
                reached.insert(process);
                is_any_new = true;
            }
        }
        if !is_any_new || Instant::now() >= end {
            return reached;
        }
    }
}

/// Follows the lists of children from a process downwards.
///
/// Between the list and the look at a process, the process may have ended and its number may have
/// been given to a stranger. Therefore it only counts if its parent belongs to the tree.
fn walk(
    ancestor: u32,
    children: impl Fn(u32) -> Option<Vec<u32>>,
    look: impl Fn(u32) -> Option<ProcessLook>,
) -> Vec<ProcessName> {
    let mut found: Vec<ProcessName> = Vec::new();
    let mut tree = HashSet::from([ancestor]);
    let mut walked = 0;
    loop {
        let before = found.len();
        let mut parent = Some(ancestor);
        while let Some(pid) = parent.filter(|_| found.len() < MOST_DESCENDANTS) {
            for child in children(pid).unwrap_or_default() {
                if let Some(look) = look(child)
                    && tree.contains(&look.parent)
                    && tree.insert(child)
                {
                    found.push(ProcessName {
                        pid: child,
                        start_time: look.start_time,
                    });
                }
            }
            parent = found.get(walked).map(|process| process.pid);
            walked += usize::from(parent.is_some());
        }
        if found.len() == before || found.len() >= MOST_DESCENDANTS {
            return found;
        }
    }
}

/// Returns the children of all processes, for systems that do not list the children of one.
fn children_of_all() -> HashMap<u32, Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in System::all() {
        if let Some(look) = System::look(pid) {
            children.entry(look.parent).or_default().push(pid);
        }
    }
    children
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::ProcessState;

    fn child_of(parent: u32) -> ProcessLook {
        ProcessLook {
            parent,
            group: None,
            start_time: 1,
            state: ProcessState::Alive,
        }
    }

    /// Walks a tree that is listed like this, in which the numbers have these parents by the time
    /// they are looked at.
    fn walked(listed: &[(u32, &[u32])], parents: &[(u32, u32)]) -> Vec<u32> {
        let listed: HashMap<u32, &[u32]> = listed.iter().copied().collect();
        let parents: HashMap<u32, u32> = parents.iter().copied().collect();
        let found = walk(
            1,
            |pid| Some(listed.get(&pid)?.to_vec()),
            |pid| Some(child_of(*parents.get(&pid)?)),
        );
        found.into_iter().map(|process| process.pid).collect()
    }

    #[test]
    fn a_tree_is_walked_from_its_top() {
        let listed: [(u32, &[u32]); 3] = [(1, &[2, 3]), (2, &[4]), (4, &[5])];
        let parents = [(2, 1), (3, 1), (4, 2), (5, 4)];
        assert_eq!(walked(&listed, &parents), [2, 3, 4, 5]);
    }

    #[test]
    fn a_number_that_a_stranger_has_by_now_is_not_of_the_tree() {
        let listed: [(u32, &[u32]); 2] = [(1, &[2, 3]), (3, &[4])];
        let parents = [(2, 1), (3, 77), (4, 3)];
        assert_eq!(walked(&listed, &parents), [2]);
    }

    #[test]
    fn what_was_inherited_meanwhile_is_of_the_tree() {
        let listed: [(u32, &[u32]); 2] = [(1, &[2]), (2, &[3])];
        // The parent of 3 died between the list and the look.
        assert_eq!(walked(&listed, &[(2, 1), (3, 1)]), [2, 3]);
    }

    #[test]
    fn we_descend_from_our_parent() {
        let own = ProcessName::of_this_process();
        let parent = ProcessName::of_parent().pid;
        assert!(descendants(parent).contains(&own));
        assert!(!descendants(own.pid).iter().any(|below| below.pid == parent));
        assert!(children(parent).contains(&own.pid));
        assert_eq!(children(u32::MAX), [] as [u32; 0]);
        let all = children_of_all();
        assert!(all[&parent].contains(&own.pid));
    }
}
