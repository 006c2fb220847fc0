//! Takes the status of dead children.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{WaitOptions, waitpid};

use crate::name::raw;

/// The time that a killed child may take to be dead, and the pause between two looks.
const TO_DIE: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Takes the status of a dead process if it is a child of this one. Returns whether the process is
/// gone: reaped here and now, or by its own parent before.
pub fn reap(pid: u32) -> bool {
    let Some(raw) = raw(pid) else {
        return true;
    };
    match waitpid(Some(raw), WaitOptions::NOHANG) {
        Ok(status) => status.is_some(),
        Err(_) => !fs::exists(format!("/proc/{pid}")).unwrap_or(false),
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
