//! Reads the state of processes from `/proc`. Zombies count as gone.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::wait::wait_until;

/// Returns whether the process exists and is no zombie.
pub fn exists(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| !matches!(stat.state, 'Z' | 'X'))
}

/// Waits until none of the processes exists. Returns the processes that still exist after
/// `patience`.
pub fn wait_until_gone(pids: &[u32], patience: Duration) -> Result<(), Vec<u32>> {
    let all_gone = || pids.iter().all(|pid| !exists(*pid)).then_some(());
    wait_until(patience, all_gone)
        .ok_or_else(|| pids.iter().copied().filter(|pid| exists(*pid)).collect())
}

/// Returns the children of a process, their children and so on, in no order.
pub fn descendants(pid: u32) -> Vec<u32> {
    let children = children_by_parent();
    let mut found = Vec::new();
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        for child in children.get(&parent).into_iter().flatten() {
            found.push(*child);
            parents.push(*child);
        }
    }
    found
}

/// Returns whether the process is there and somebody has stopped it.
pub fn is_stopped(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| matches!(stat.state, 'T' | 't'))
}

/// Returns the name a process goes by.
pub fn name(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// Returns the command line of a process, its words separated by spaces.
pub fn command_line(pid: u32) -> Option<String> {
    let words = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
    Some(words.trim_end_matches('\0').replace('\0', " "))
}

/// Returns the processes whose command line contains these words.
pub fn with_words(words: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| command_line(*pid).is_some_and(|line| line.contains(words)))
        .collect()
}

/// Returns the control groups that a process is in, as the system writes them.
pub fn control_groups(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default()
}

/// Returns how many files a process may have open, as the system writes it.
pub fn file_limit(pid: u32) -> Option<u64> {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

/// Returns the children of a process that go by this name.
pub fn children_named(pid: u32, wanted: &str) -> Vec<u32> {
    let mut children = children_by_parent().remove(&pid).unwrap_or_default();
    children.retain(|child| name(*child).as_deref() == Some(wanted));
    children
}

/// Returns the children of a process that are dead but still in the process table.
pub fn zombies_of(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id| stat(*id).is_some_and(|stat| stat.state == 'Z' && stat.parent == pid))
        .collect()
}

/// Returns the resident memory of a process in kilobytes.
pub fn rss_kb(pid: u32) -> Option<u64> {
    status_kb(pid, "VmRSS:")
}

/// Returns the highest resident memory a process ever had, in kilobytes.
pub fn peak_rss_kb(pid: u32) -> Option<u64> {
    status_kb(pid, "VmHWM:")
}

/// Returns the most memory that a process has had, without the pages of its own program, because a
/// debug build has many of them.
pub fn peak_data_kb(pid: u32) -> Option<u64> {
    let program = status_kb(pid, "RssFile:")?;
    Some(peak_rss_kb(pid)?.saturating_sub(program))
}

/// Returns the session of a process.
pub fn session(pid: u32) -> Option<u32> {
    stat(pid).map(|stat| stat.session)
}

/// Returns the process group of a process.
pub fn group(pid: u32) -> Option<u32> {
    stat(pid).map(|stat| stat.group)
}

/// Returns the parent of a process.
pub fn parent(pid: u32) -> Option<u32> {
    stat(pid).map(|stat| stat.parent)
}

/// Returns whether a process ignores a signal or has a handler for it.
pub fn is_deaf_to(pid: u32, signal: Signal) -> bool {
    let holds = |mask: &str| {
        let mask = status(pid, mask).and_then(|mask| u64::from_str_radix(&mask, 16).ok());
        mask.is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
    };
    holds("SigIgn:") || holds("SigCgt:")
}

/// Sends a signal to one process. The process may be gone already.
pub fn kill(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let _ = kill_process(pid.expect("a process id"), signal);
}

struct Stat {
    state: char,
    parent: u32,
    group: u32,
    session: u32,
}

fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may itself hold spaces and parentheses.
    let (_, rest) = text.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    Some(Stat {
        state: fields.next()?.chars().next()?,
        parent: fields.next()?.parse().ok()?,
        group: fields.next()?.parse().ok()?,
        session: fields.next()?.parse().ok()?,
    })
}

fn children_by_parent() -> HashMap<u32, Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        if let Some(stat) = stat(pid).filter(|stat| !matches!(stat.state, 'Z' | 'X')) {
            children.entry(stat.parent).or_default().push(pid);
        }
    }
    children
}

fn status_kb(pid: u32, field: &str) -> Option<u64> {
    status(pid, field)?.parse().ok()
}

/// Returns the first word of a line of `/proc/PID/status`.
fn status(pid: u32, field: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1).map(str::to_owned)
}
