//! One line of `/proc` about each process.

use std::fs;
use std::io;
use std::sync::LazyLock;

/// The flag of a thread of the kernel.
const OF_KERNEL: u32 = 0x0020_0000;

/// What is known of a process at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Stat {
    /// Whose child it is.
    pub parent: u32,
    /// Whether it is dead and waits to be reaped.
    pub is_zombie: bool,
    /// Whether somebody stopped it: it does nothing until it is continued.
    pub is_stopped: bool,
    /// When it started, in ticks since boot: together with its pid it names it for good.
    pub start_time: u64,
    is_of_kernel: bool,
    /// Where its environment begins and ends; 0 while it becomes another program.
    environment: (u64, u64),
}

impl Stat {
    /// Looks at a process; None if there is none of this number.
    pub fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may itself hold spaces and parentheses.
        let (_, after_name) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = after_name.split(' ').collect();
        Some(Self {
            is_zombie: matches!(*fields.first()?, "Z" | "X"),
            is_stopped: matches!(*fields.first()?, "T" | "t"),
            parent: fields.get(1)?.parse().ok()?,
            start_time: fields.get(19)?.parse().ok()?,
            is_of_kernel: fields.get(6)?.parse::<u32>().ok()? & OF_KERNEL != 0,
            environment: (fields.get(47)?.parse().ok()?, fields.get(48)?.parse().ok()?),
        })
    }

    /// Tells whether a process that shows no environment may show one soon: not a dead one, not a
    /// thread of the kernel, and not one that was started without any.
    pub(crate) fn may_have_environment(&self) -> bool {
        let is_without = self.environment.0 == self.environment.1 && self.environment.0 != 0;
        !(self.is_zombie || self.is_of_kernel || is_without)
    }
}

/// When a process started; None for one that is gone or dead.
pub fn start_time(pid: u32) -> Option<u64> {
    let stat = Stat::read(pid)?;
    (!stat.is_zombie).then_some(stat.start_time)
}

/// The name a process goes by, of at most 15 characters; `None` for one that is gone.
pub fn process_name(pid: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end_matches('\n').to_owned())
}

/// Gives this process a name, of which at most 15 characters count.
pub fn name_this_process(name: &str) -> io::Result<()> {
    fs::write("/proc/self/comm", name)
}

/// The children of a process, much faster than a look at all processes; `None` where the system does
/// not tell.
pub fn children(pid: u32) -> Option<Vec<u32>> {
    static IS_TOLD: LazyLock<bool> =
        LazyLock::new(|| fs::exists("/proc/thread-self/children").unwrap_or(false));
    if !*IS_TOLD {
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

/// All process ids of this moment.
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
