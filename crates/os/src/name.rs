//! The name of a process, and the only way by which the engine and the embedded agent send signals
//! to a process.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::{Stat, start_time};

/// A process, named so that a newcomer with the same number is not taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProcessName {
    /// The number of the process.
    pub pid: u32,
    /// The time at which the process started, in ticks since boot.
    pub start_time: u64,
}

impl ProcessName {
    /// Returns the name of this process.
    pub fn of_this_process() -> Self {
        Self::of(std::process::id())
    }

    /// Returns the name of the process that started this one, if it still lives.
    pub fn of_parent() -> Self {
        let own = Stat::read(std::process::id());
        Self::of(own.map(|stat| stat.parent).unwrap_or_default())
    }

    /// Returns the name of the process that has this number now. If no living process has it, the
    /// name belongs to nobody.
    pub fn of(pid: u32) -> Self {
        let start_time = start_time(pid).unwrap_or_default();
        Self { pid, start_time }
    }

    /// Returns the name as one word, for an environment or a file name.
    pub fn mark(self) -> String {
        format!("{}-{}", self.pid, self.start_time)
    }

    /// Returns whether the process still lives.
    pub fn is_alive(self) -> bool {
        start_time(self.pid) == Some(self.start_time)
    }

    /// Returns whether the process lives and was stopped: it does nothing until somebody
    /// continues it.
    pub fn is_stopped(self) -> bool {
        let stat = Stat::read(self.pid);
        stat.is_some_and(|stat| stat.start_time == self.start_time && stat.is_stopped)
    }

    /// Sends a signal to the process, and returns whether it was sent. A process with the same
    /// number and another start time gets no signal: the descriptor pins the process, and the start
    /// time is compared after that.
    pub fn signal(self, signal: Signal) -> bool {
        let Some(pid) = raw(self.pid) else {
            return false;
        };
        let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else {
            return false;
        };
        self.is_alive() && pidfd_send_signal(descriptor, signal).is_ok()
    }

    /// Kills the process.
    pub fn kill(self) {
        self.signal(Signal::KILL);
    }

    /// Continues the process if somebody has stopped it.
    pub fn rouse(self) {
        if self.is_stopped() {
            self.signal(Signal::CONT);
        }
    }
}

/// Returns the number as system calls take it.
pub(crate) fn raw(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newcomer_with_the_same_number_gets_no_signal() {
        let own = ProcessName::of_this_process();
        let before_us = ProcessName {
            start_time: own.start_time - 1,
            ..own
        };
        // A living process does not mind being continued.
        assert!(own.signal(Signal::CONT));
        assert!(!before_us.signal(Signal::CONT));
        assert!(!before_us.signal(Signal::KILL));
        assert!(!before_us.is_alive());
    }

    #[test]
    fn nobody_gets_no_signal() {
        for pid in [0, u32::MAX] {
            assert!(!ProcessName::of(pid).signal(Signal::KILL));
        }
    }
}
