//! Finds the processes that belong to a round: all that carry the path of its sandbox in their
//! environment, their arguments or as their directory, and all that descend from these.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pi_subagents_testkit::{Signal, process, wait_until};

const LOOK_AGAIN: Duration = Duration::from_millis(40);

/// A process, named so that a newcomer with the same number is not taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name {
    pub(crate) pid: u32,
    start: u64,
}

/// Looks for processes of a round from its beginning to its end.
pub(crate) struct Census {
    root: PathBuf,
    seen: Arc<Mutex<HashSet<Name>>>,
    is_over: Arc<AtomicBool>,
    looker: Option<JoinHandle<()>>,
}

impl Census {
    /// Begins to look.
    pub(crate) fn begin(root: &Path) -> Self {
        let seen = Arc::new(Mutex::new(HashSet::new()));
        let is_over = Arc::new(AtomicBool::new(false));
        let looker = {
            let (root, seen, is_over) = (root.to_owned(), Arc::clone(&seen), Arc::clone(&is_over));
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    look(&root, &seen);
                    thread::sleep(LOOK_AGAIN);
                }
            })
        };
        Self {
            root: root.to_owned(),
            seen,
            is_over,
            looker: Some(looker),
        }
    }

    /// Returns the processes of the round that live now.
    pub(crate) fn living(&self) -> Vec<Name> {
        look(&self.root, &self.seen);
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut living: Vec<Name> = seen
            .iter()
            .copied()
            .filter(|name| is_alive(*name))
            .collect();
        living.sort();
        living
    }

    /// Waits until no process of the round lives. Returns the processes that still live after
    /// `patience`.
    pub(crate) fn wait_until_empty(&self, patience: Duration) -> Vec<Name> {
        let emptied = wait_until(patience, || {
            let is_empty = self.living().is_empty();
            if !is_empty {
                thread::sleep(LOOK_AGAIN);
            }
            is_empty.then_some(())
        });
        if emptied.is_some() {
            Vec::new()
        } else {
            self.living()
        }
    }

    /// Ends the processes that are left of the round.
    pub(crate) fn end_all(&self) {
        for _ in 0..100 {
            let living = self.living();
            if living.is_empty() {
                return;
            }
            for name in living {
                process::kill(name.pid, Signal::KILL);
            }
            thread::sleep(LOOK_AGAIN);
        }
    }
}

impl Drop for Census {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(looker) = self.looker.take() {
            // It looks and nothing else, so it does not fail.
            _ = looker.join();
        }
    }
}

/// Describes a process for a person.
pub(crate) fn described(name: Name) -> String {
    let command = arguments(name.pid);
    let stat = fs::read_to_string(format!("/proc/{}/stat", name.pid)).unwrap_or_default();
    let state = stat.rsplit_once(") ").map_or("?", |(_, rest)| &rest[..1]);
    let short: String = command.chars().take(160).collect();
    format!("{} [{state}] {short}", name.pid)
}

/// Returns the arguments of a process, with spaces between them.
pub(crate) fn arguments(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

fn look(root: &Path, seen: &Mutex<HashSet<Name>>) {
    let all = all_processes();
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let mut fresh: HashSet<Name> = HashSet::new();
    for (name, _) in all.values() {
        if !seen.contains(name) && names_root(name.pid, root) {
            fresh.insert(*name);
        }
    }
    // Descendants of known processes belong to the round too. Parents come before their children
    // only by chance, so the list is gone through until nothing new is found.
    seen.extend(fresh);
    loop {
        let more: Vec<Name> = all
            .values()
            .filter(|(name, _)| !seen.contains(name))
            .filter(|(_, parent)| {
                all.get(parent)
                    .is_some_and(|(above, _)| seen.contains(above))
            })
            .map(|(name, _)| *name)
            .collect();
        if more.is_empty() {
            return;
        }
        seen.extend(more);
    }
}

/// Returns all processes that are no zombies, with their parents.
fn all_processes() -> HashMap<u32, (Name, u32)> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| {
            let (name, parent) = read_stat(pid)?;
            Some((pid, (name, parent)))
        })
        .collect()
}

fn is_alive(name: Name) -> bool {
    read_stat(name.pid).is_some_and(|(found, _)| found == name)
}

/// Returns the name of a process that is no zombie, and its parent.
fn read_stat(pid: u32) -> Option<(Name, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = after_name.split(' ').collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    let parent = fields.get(1)?.parse().ok()?;
    let start = fields.get(19)?.parse().ok()?;
    Some((Name { pid, start }, parent))
}

fn names_root(pid: u32, root: &Path) -> bool {
    let root_text = root.as_os_str().as_encoded_bytes();
    let holds = |file: &str| {
        let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        bytes
            .windows(root_text.len())
            .any(|window| window == root_text)
    };
    let works_there =
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(root));
    works_there || holds("cmdline") || holds("environ")
}
