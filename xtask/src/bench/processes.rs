//! Reads from `/proc` the state of a process and of those it started.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::process_tree::tree;

/// The pause between two looks at a watched process.
const PAUSE: Duration = Duration::from_millis(1);

/// The role of a process that is none of ours, or that has no command line.
const CHILD: &str = "child";

/// The facts about a process and its tree that were seen until it ended.
pub(super) struct Watched {
    pub(super) status: ExitStatus,
    pub(super) wall: Duration,
    /// Processor time of the process itself, without its tree.
    pub(super) processor: Duration,
    /// The highest memory of each process in kilobytes when it was last seen, with its role.
    peaks: BTreeMap<u32, (String, u64)>,
}

impl Watched {
    /// Returns the most memory that a process of this role took, in kilobytes, with the pages of the
    /// program file that were read.
    pub(super) fn peak(&self, role: &str) -> u64 {
        let of_role = self.peaks.values().filter(|(name, _)| name == role);
        of_role.map(|(_, peak)| *peak).max().unwrap_or(0)
    }
}

/// Watches a process and its tree to its end. Looking takes time itself, so times that are compared
/// should come from processes that are not watched.
pub(super) fn watch(mut child: Child) -> Outcome<Watched> {
    let begun = Instant::now();
    let root = child.id();
    let mut peaks: BTreeMap<u32, (String, u64)> = BTreeMap::new();
    let mut processor = Duration::ZERO;
    loop {
        for pid in tree(root) {
            // A process whose file cannot be read is gone already, and keeps the peak seen before.
            if let Some(now) = memory(pid) {
                let role = if pid == root {
                    "owner".to_owned()
                } else {
                    role(pid)
                };
                let known = peaks.remove(&pid).map(|(role, _)| role);
                // A process that is about to end has no command line any more.
                let role = known.filter(|_| role == CHILD).unwrap_or(role);
                peaks.insert(pid, (role, now));
            }
        }
        processor = processor.max(processor_time(root));
        if let Some(status) = child.try_wait()? {
            return Ok(Watched {
                status,
                wall: begun.elapsed(),
                processor,
                peaks,
            });
        }
        thread::sleep(PAUSE);
    }
}

fn memory(pid: u32) -> Option<u64> {
    number_in(&format!("/proc/{pid}/status"), "VmHWM:")
}

/// Returns the memory of a process in kilobytes: its own, and its share of the memory that several
/// processes use.
pub(super) fn share_of_memory(pid: u32) -> u64 {
    number_in(&format!("/proc/{pid}/smaps_rollup"), "Pss:").unwrap_or(0)
}

/// Returns the memory of a process in kilobytes that it has at this moment, with the pages of the
/// program file.
pub(super) fn resident_memory(pid: u32) -> u64 {
    number_in(&format!("/proc/{pid}/status"), "VmRSS:").unwrap_or(0)
}

/// Returns the pages that the kernel had to give to a process.
pub(super) fn page_faults(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let faults = after_name.split_whitespace().nth(7);
    faults.and_then(|field| field.parse().ok()).unwrap_or(0)
}

/// Returns the purpose of a process of the tree.
pub(super) fn role(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<String> = line
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    match words.get(1).map(String::as_str) {
        Some(word @ ("keeper" | "embedded")) => word.to_owned(),
        // Its name in the programs of before, with which the present one is compared.
        Some("agent") => "embedded".to_owned(),
        _ => CHILD.to_owned(),
    }
}

fn number_in(path: &str, key: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the user and system time, which Linux counts in hundredths of a second.
pub(super) fn processor_time(pid: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let fields = after_name.split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}
