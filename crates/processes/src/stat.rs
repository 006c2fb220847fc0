//! One line of `/proc` about each process.

use std::fs;

/// The flag of a thread of the kernel.
const OF_KERNEL: u32 = 0x0020_0000;

/// What is known of a process at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Stat {
    /// Whose child it is.
    pub parent: u32,
    /// Whether it is dead and waits to be reaped.
    pub is_zombie: bool,
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
}
