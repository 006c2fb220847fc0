//! Takes the status of dead children.

use std::io;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{WaitOptions, wait, waitpid};

use crate::name::raw;
use crate::{Processes as _, System};

/// The time that a killed child may take to be dead, and the pause between two looks.
const TO_DIE: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The result of asking for the status of any child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaped {
    /// This child was dead, and is reaped now.
    Child {
        /// Its number.
        pid: u32,
        /// Its exit code, if it has exited.
        code: Option<i32>,
        /// The signal that killed it, if one has.
        signal: Option<i32>,
    },
    /// There are children, and all of them live.
    NobodyNow,
    /// There is no child. This means that no descendant is left only if orphans are adopted by this
    /// process ([`crate::Adoption`]).
    NoChild,
}

/// Takes the status of a dead child of this process, whichever comes first.
pub fn reap_any() -> io::Result<Reaped> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                return Ok(Reaped::Child {
                    pid: pid.as_raw_nonzero().get().unsigned_abs(),
                    code: status.exit_status(),
                    signal: status.terminating_signal(),
                });
            }
            Ok(None) => return Ok(Reaped::NobodyNow),
            Err(Errno::CHILD) => return Ok(Reaped::NoChild),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Takes the status of a dead process if it is a child of this one. Returns whether the process is
/// gone: reaped here and now, or by its own parent before.
pub fn reap(pid: u32) -> bool {
    let Some(child) = raw(pid) else {
        return true;
    };
    match waitpid(Some(child), WaitOptions::NOHANG) {
        Ok(status) => status.is_some(),
        Err(_) => System::look(pid).is_none(),
    }
}

/// Reaps a process that was killed and may be a child of this one, because its parent was killed.
/// A process that is no child of this one is reaped by its own parent.
pub fn reap_killed(pid: u32) {
    let Some(pid) = raw(pid) else {
        return;
    };
    let end = Instant::now() + TO_DIE;
    while matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)) && Instant::now() < end {
        std::thread::sleep(LOOK_AGAIN);
    }
}
