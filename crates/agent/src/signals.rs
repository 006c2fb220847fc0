//! The signals that ask the agent to go.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGHUP and SIGINT.
pub(crate) struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Catches the signals from now on.
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for a signal and returns the exit code that belongs to it.
    pub(crate) async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.terminate.recv() => 143,
            _ = self.hang_up.recv() => 129,
            _ = self.interrupt.recv() => 130,
        }
    }
}
