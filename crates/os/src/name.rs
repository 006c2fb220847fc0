//! The name of a process, and the only way by which the engine and the embedded agent send signals
//! to a process.

use rustix::process::{Pid, Signal};

use crate::{ProcessName, ProcessState, Processes as _, System};

impl ProcessName {
    /// Returns the name of this process.
    pub fn of_this_process() -> Self {
        Self::of(std::process::id())
    }

    /// Returns the name of the process that started this one, if it still lives.
    pub fn of_parent() -> Self {
        let own = System::look(std::process::id());
        Self::of(own.map(|look| look.parent).unwrap_or_default())
    }

    /// Returns the name of the process that has this number now. If no living process has it, the
    /// name belongs to nobody.
    pub fn of(pid: u32) -> Self {
        Self::of_living(pid).unwrap_or(Self { pid, start_time: 0 })
    }

    /// Returns the name of the living process that has this number.
    pub fn of_living(pid: u32) -> Option<Self> {
        let look = System::look(pid).filter(|look| look.state != ProcessState::Dead)?;
        Some(Self {
            pid,
            start_time: look.start_time,
        })
    }

    /// Returns the name as one word, for an environment or a file name.
    pub fn mark(self) -> String {
        format!("{}-{}", self.pid, self.start_time)
    }

    /// Returns whether the process still lives.
    pub fn is_alive(self) -> bool {
        Self::of_living(self.pid) == Some(self)
    }

    /// Returns whether the process lives and was stopped: it does nothing until somebody
    /// continues it.
    pub fn is_stopped(self) -> bool {
        System::look(self.pid).is_some_and(|look| {
            look.start_time == self.start_time && look.state == ProcessState::Stopped
        })
    }

    /// Returns whether the process belongs to this process group.
    pub fn is_in_group(self, group: u32) -> bool {
        System::look(self.pid)
            .is_some_and(|look| look.start_time == self.start_time && look.group == Some(group))
    }

    /// Sends a signal to the process, and returns whether it was sent. A process with the same
    /// number and another start time gets no signal.
    pub fn signal(self, signal: Signal) -> bool {
        System::signal(self, signal)
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
    fn only_a_living_process_has_a_name() {
        assert!(ProcessName::of_living(std::process::id()).is_some());
        assert_eq!(ProcessName::of_living(u32::MAX), None);
    }

    #[test]
    fn nobody_gets_no_signal() {
        for pid in [0, u32::MAX] {
            assert!(!ProcessName::of(pid).signal(Signal::KILL));
        }
    }
}
