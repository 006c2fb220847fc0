//! A process and everything it started.

use std::fs;

use crate::machine::program;

/// Returns a process and all below it.
pub(crate) fn tree(root: u32) -> Vec<u32> {
    let mut pids = vec![root];
    let mut next = 0;
    while let Some(pid) = pids.get(next).copied() {
        next += 1;
        let tasks = fs::read_dir(format!("/proc/{pid}/task"))
            .into_iter()
            .flatten();
        for task in tasks.flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            pids.extend(
                children
                    .split_whitespace()
                    .filter_map(|pid| pid.parse::<u32>().ok()),
            );
        }
    }
    pids
}

/// Kills a process and all below it.
pub(crate) fn kill_tree(root: u32) {
    let pids = tree(root).into_iter().map(|pid| pid.to_string());
    // A process that has ended by itself meanwhile is no failure.
    _ = program("kill").arg("-KILL").args(pids).status();
}
