//! Buries processes that outlived their parent as soon as they are dead.
//!
//! Orphans become children of the agent. A dead orphan stays in the process
//! table until its status is taken; a command that starts many would fill the table.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pi_subagents_os::{children, reap};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

/// The time for which the dead of a busy command are gathered before they are looked for again.
const ROUND: Duration = Duration::from_millis(20);

/// The children that somebody waits for; their status is not ours to take.
static AWAITED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// A child that somebody waits for, as long as this is held.
#[derive(Debug)]
pub(crate) struct Awaited {
    pid: u32,
}

/// Starts a process whose status the caller will take.
pub(crate) fn start(command: &mut Command) -> io::Result<(Child, Awaited)> {
    // Held over the start, so that the child is known before anybody can see it.
    let mut awaited = awaited();
    let child = pi_subagents_os::start(command)?;
    let pid = child.id().unwrap_or_default();
    awaited.push(pid);
    Ok((child, Awaited { pid }))
}

impl Drop for Awaited {
    fn drop(&mut self) {
        let mut awaited = awaited();
        if let Some(place) = awaited.iter().position(|pid| *pid == self.pid) {
            awaited.swap_remove(place);
        }
    }
}

fn awaited() -> MutexGuard<'static, Vec<u32>> {
    AWAITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Buries orphans for as long as it is awaited.
pub(crate) async fn bury() -> Infallible {
    let Ok(mut child_changed) = signal(SignalKind::child()) else {
        // Then they are buried when a call ends.
        return pending().await;
    };
    loop {
        child_changed.recv().await;
        bury_dead();
        // A signal that comes meanwhile is kept.
        tokio::time::sleep(ROUND).await;
    }
}

fn bury_dead() {
    let awaited = awaited();
    for pid in children(std::process::id()) {
        if !awaited.contains(&pid) {
            // A living process is left alone.
            reap(pid);
        }
    }
}
