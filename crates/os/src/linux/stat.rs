//! The state of a process, read from its line in `/proc`.

use std::fs;

use crate::{ProcessLook, ProcessState};

/// The flag of a thread of the kernel.
const OF_KERNEL: u32 = 0x0020_0000;

/// The line of a process, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stat {
    pub(super) look: ProcessLook,
    is_of_kernel: bool,
    /// The addresses at which the environment begins and ends in memory; 0 while the process
    /// becomes another program.
    environment: (u64, u64),
}

impl Stat {
    /// Looks at a process; `None` if no process has this number.
    pub(super) fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may itself hold spaces and parentheses.
        let (_, after_name) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = after_name.split(' ').collect();
        let look = ProcessLook {
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok(),
            // In ticks since boot.
            start_time: fields.get(19)?.parse().ok()?,
            state: match *fields.first()? {
                "Z" | "X" => ProcessState::Dead,
                "T" | "t" => ProcessState::Stopped,
                _ => ProcessState::Alive,
            },
        };
        Some(Self {
            look,
            is_of_kernel: fields.get(6)?.parse::<u32>().ok()? & OF_KERNEL != 0,
            environment: (fields.get(47)?.parse().ok()?, fields.get(48)?.parse().ok()?),
        })
    }

    /// Returns whether a process that shows no environment may show one soon. This is false for a
    /// dead process, for a thread of the kernel, and for a process that was started without any
    /// environment.
    pub(super) fn may_have_environment(&self) -> bool {
        let is_without = self.environment.0 == self.environment.1 && self.environment.0 != 0;
        let is_dead = self.look.state == ProcessState::Dead;
        !(is_dead || self.is_of_kernel || is_without)
    }
}
