//! The state of a process, read from its line in `/proc`.

use std::fs;
use std::io;
use std::sync::LazyLock;

/// The flag of a thread of the kernel.
const OF_KERNEL: u32 = 0x0020_0000;

/// The state of a process at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Stat {
    /// The process whose child it is.
    pub parent: u32,
    /// The number of its process group, unless the process is just vanishing.
    pub group: Option<u32>,
    /// True if the process is dead and waits to be reaped.
    pub is_zombie: bool,
    /// True if somebody stopped the process. It then does nothing until it is continued.
    pub is_stopped: bool,
    /// The time at which the process started, in ticks since boot. No other process has the same
    /// number and start time.
    pub start_time: u64,
    is_of_kernel: bool,
    /// The addresses at which the environment begins and ends in memory; 0 while the process
    /// becomes another program.
    environment: (u64, u64),
}

impl Stat {
    /// Looks at a process; `None` if no process has this number.
    pub fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may itself hold spaces and parentheses.
        let (_, after_name) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = after_name.split(' ').collect();
        Some(Self {
            is_zombie: matches!(*fields.first()?, "Z" | "X"),
            is_stopped: matches!(*fields.first()?, "T" | "t"),
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok(),
            start_time: fields.get(19)?.parse().ok()?,
            is_of_kernel: fields.get(6)?.parse::<u32>().ok()? & OF_KERNEL != 0,
            environment: (fields.get(47)?.parse().ok()?, fields.get(48)?.parse().ok()?),
        })
    }

    /// Makes the look at a living child of this parent.
    #[cfg(test)]
    pub(crate) fn of_child(parent: u32) -> Self {
        Self {
            parent,
            group: None,
            is_zombie: false,
            is_stopped: false,
            start_time: 1,
            is_of_kernel: false,
            environment: (0, 0),
        }
    }

    /// Returns whether a process that shows no environment may show one soon. This is false for a
    /// dead process, for a thread of the kernel, and for a process that was started without any
    /// environment.
    pub(crate) fn may_have_environment(&self) -> bool {
        let is_without = self.environment.0 == self.environment.1 && self.environment.0 != 0;
        !(self.is_zombie || self.is_of_kernel || is_without)
    }
}

/// Returns when a process started; `None` for a process that is gone or dead.
pub fn start_time(pid: u32) -> Option<u64> {
    let stat = Stat::read(pid)?;
    (!stat.is_zombie).then_some(stat.start_time)
}

/// Returns the name a process goes by, of at most 15 characters; `None` if the process is gone.
pub fn process_name(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end_matches('\n').to_owned())
}

/// Gives this process a name. The system keeps at most 15 characters of it.
pub fn name_this_process(name: &str) -> io::Result<()> {
    fs::write("/proc/self/comm", name)
}

/// Returns the children of a process, much faster than a look at all processes; `None` where the
/// system keeps no such list.
pub fn children(pid: u32) -> Option<Vec<u32>> {
    static IS_LISTED: LazyLock<bool> =
        LazyLock::new(|| fs::exists("/proc/thread-self/children").unwrap_or(false));
    if !*IS_LISTED {
        return None;
    }
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let children = threads.into_iter().flatten().flatten().map(|thread| {
        // A thread may have ended meanwhile.
        fs::read_to_string(thread.path().join("children")).unwrap_or_default()
    });
    Some(
        children
            .flat_map(|list| {
                list.split_whitespace()
                    .flat_map(str::parse)
                    .collect::<Vec<u32>>()
            })
            .collect(),
    )
}

/// Returns the numbers of all processes of this moment.
pub fn all_processes() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_living_process_has_a_start_time() {
        assert!(start_time(std::process::id()).is_some());
        assert_eq!(start_time(u32::MAX), None);
    }

    #[test]
    fn we_are_a_child_of_our_parent() {
        let own = std::process::id();
        let parent = Stat::read(own).unwrap().parent;
        assert!(children(parent).is_none_or(|children| children.contains(&own)));
        assert!(children(u32::MAX).is_none_or(|children| children.is_empty()));
    }

    #[test]
    fn a_process_has_a_name_while_it_is_there() {
        assert!(process_name(std::process::id()).is_some_and(|name| !name.is_empty()));
        assert_eq!(process_name(u32::MAX), None);
    }
}
