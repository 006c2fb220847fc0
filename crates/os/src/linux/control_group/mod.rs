//! Control groups (version 2). If the user may make one, a run's tree is put into a group of its
//! own. No process can leave the group, and all of it is killed at once, even if processes fork
//! meanwhile.
//!
//! Everything works without groups too; they find the processes that cleared their environment and
//! lost their parents.

mod memory;
mod place;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::ProcessName;

pub(in crate::system) use memory::free_memory;

/// The beginning of the names of our groups.
const PREFIX: &str = "pisub-";

/// The time that a killed group may take to be empty, and the pause between two looks.
const TO_EMPTY: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// The number of groups that are looked at to find one of ours; a machine has some hundreds.
const MOST_GROUPS: usize = 20_000;

/// The group of one run.
#[derive(Debug)]
pub(in crate::system) struct ControlGroup {
    directory: PathBuf,
}

impl ControlGroup {
    /// Makes a group for a run of this owner below the group of this process, where the user may.
    pub(in crate::system) fn make(owner: ProcessName, run: &str) -> io::Result<Self> {
        let parent = own_directory().ok_or(io::ErrorKind::NotFound)?;
        Self::make_below(&parent, owner, run)
    }

    fn make_below(parent: &Path, owner: ProcessName, run: &str) -> io::Result<Self> {
        let directory = parent.join(format!("{}{run}", prefix_of(&owner.mark())));
        fs::create_dir(&directory)?;
        Ok(Self { directory })
    }

    /// Puts a process into the group, with all it starts from then on.
    pub(in crate::system) fn put(&self, pid: u32) -> io::Result<()> {
        fs::write(self.directory.join("cgroup.procs"), pid.to_string())
    }

    /// Kills everything in the group at once.
    pub(in crate::system) fn kill(&self) {
        // A kernel before 5.14 cannot do this; then the processes are found one by one.
        _ = fs::write(self.directory.join("cgroup.kill"), "1");
    }

    /// Removes the group and the groups below it. A group that is not empty stays.
    pub(in crate::system) fn remove(self) {
        remove(&self.directory);
    }

    /// Kills everything in the group, waits until it is empty, and removes it.
    fn end(self) {
        self.kill();
        let end = Instant::now() + TO_EMPTY;
        while self.is_populated() && Instant::now() < end {
            std::thread::sleep(LOOK_AGAIN);
        }
        self.remove();
    }

    fn is_populated(&self) -> bool {
        let events = fs::read_to_string(self.directory.join("cgroup.events"));
        events.is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
    }
}

/// Ends the processes in the groups of these runs, wherever the groups were made.
pub(in crate::system) fn end_groups_of_runs(runs: &[&str]) {
    let Some((point, _)) = read("/proc/self/mountinfo").and_then(|text| place::mount(&text)) else {
        return;
    };
    end_groups(find(&point, |name| {
        runs.iter().any(|run| is_of_run(name, run))
    }));
}

/// Ends the processes in the groups of an owner that is in the same group as this process.
pub(in crate::system) fn end_groups_of_owner(mark: &str) {
    let Some(own) = own_directory() else {
        return;
    };
    let prefix = prefix_of(mark);
    let names = subdirectories(&own).filter(|path| name(path).starts_with(&prefix));
    end_groups(names.collect());
}

/// Removes empty groups of owners that are gone, beside the group of this process: somebody killed
/// them with everybody who could have done it.
pub(in crate::system) fn remove_abandoned_groups() {
    let Some(own) = own_directory() else {
        return;
    };
    for directory in subdirectories(&own) {
        // The system itself keeps a group in which anybody lives.
        if owner_of(&name(&directory)).is_some_and(|owner| !owner.is_alive()) {
            remove(&directory);
        }
    }
}

/// Returns the owner in whose name a group was made.
fn owner_of(name: &str) -> Option<ProcessName> {
    let mut fields = name.strip_prefix(PREFIX)?.splitn(3, '-');
    Some(ProcessName {
        pid: fields.next()?.parse().ok()?,
        start_time: fields.next()?.parse().ok()?,
    })
}

fn end_groups(directories: Vec<PathBuf>) {
    for directory in directories {
        ControlGroup { directory }.end();
    }
}

fn prefix_of(owner_mark: &str) -> String {
    format!("{PREFIX}{owner_mark}-")
}

/// Returns whether a group is that of a run. Its name has the owner's process number and start
/// time, and the run.
fn is_of_run(name: &str, run: &str) -> bool {
    name.strip_prefix(PREFIX)
        .and_then(|rest| rest.splitn(3, '-').nth(2))
        .is_some_and(|of| of == run)
}

/// Finds groups by their names, down to a limited depth and number.
fn find(point: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![point.to_owned()];
    let mut looked_at = 0;
    while let Some(directory) = waiting.pop() {
        looked_at += 1;
        if looked_at > MOST_GROUPS {
            break;
        }
        for below in subdirectories(&directory) {
            if is_wanted(&name(&below)) {
                found.push(below);
            } else {
                waiting.push(below);
            }
        }
    }
    found
}

fn subdirectories(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Removes a group and the groups below it. The system keeps all groups that have processes.
fn remove(directory: &Path) {
    for below in subdirectories(directory) {
        remove(&below);
    }
    _ = fs::remove_dir(directory);
}

fn own_directory() -> Option<PathBuf> {
    place::own_directory(&read("/proc/self/mountinfo")?, &read("/proc/self/cgroup")?)
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: ProcessName = ProcessName {
        pid: 12,
        start_time: 345,
    };

    #[test]
    fn the_group_of_a_run_is_found_by_its_name_and_removed() {
        let root = tempfile::tempdir().unwrap();
        let parent = root.path().join("user.slice/app.scope");
        fs::create_dir_all(&parent).unwrap();
        let group = ControlGroup::make_below(&parent, OWNER, "run-1-a").unwrap();
        assert_eq!(group.directory, parent.join("pisub-12-345-run-1-a"));
        let is_ours = |name: &str| is_of_run(name, "run-1-a");
        let expected = vec![group.directory.clone()];
        assert_eq!(find(root.path(), is_ours), expected);
        fs::create_dir(group.directory.join("nested")).unwrap();
        group.remove();
        assert_eq!(find(root.path(), is_ours), [] as [PathBuf; 0]);
    }

    #[test]
    fn only_the_whole_name_of_a_run_counts() {
        assert!(is_of_run("pisub-1-2-run-a", "run-a"));
        assert!(!is_of_run("pisub-1-2-run-a", "a"));
        assert!(!is_of_run("pisub-1-2-run-a", "run"));
        assert!(!is_of_run("other-1-2-run-a", "run-a"));
        assert_eq!(owner_of("pisub-12-345-run-a"), Some(OWNER));
        assert_eq!(owner_of("pisub-x"), None);
    }

    #[test]
    fn a_process_in_a_group_is_written_down_and_killed_with_it() {
        let root = tempfile::tempdir().unwrap();
        let group = ControlGroup::make_below(root.path(), OWNER, "run").unwrap();
        group.put(77).unwrap();
        group.kill();
        let read = |file: &str| fs::read_to_string(group.directory.join(file)).unwrap();
        assert_eq!(
            (read("cgroup.procs"), read("cgroup.kill")),
            ("77".into(), "1".into())
        );
    }
}
