//! Signals of the operating system.

use rustix::process::Signal as SignalName;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CommandError;

/// The signals that tell us to end.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// `None` for a process that goes on when its terminal is gone.
    hang_up: Option<Signal>,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self, CommandError> {
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: Some(listen(SignalKind::hangup())?),
        })
    }

    /// For a process that outlives its terminal: a hang-up arrives and changes nothing.
    pub(crate) fn listen_detached() -> Result<Self, CommandError> {
        let all = Self::listen()?;
        Ok(Self {
            hang_up: None,
            ..all
        })
    }

    /// Waits for the next one and gives its number.
    pub(crate) async fn next(&mut self) -> i32 {
        let kind = tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            () = received(self.hang_up.as_mut()) => SignalKind::hangup(),
        };
        kind.as_raw_value()
    }
}

/// A file that may not grow any more is an error of its write, and not the end of this process.
pub(crate) fn survive_large_files() {
    // Where the handler cannot be had, everything is as it was.
    _ = signal(SignalKind::from_raw(SignalName::XFSZ.as_raw()));
}

fn listen(kind: SignalKind) -> Result<Signal, CommandError> {
    signal(kind).map_err(|error| CommandError::failed("no signals").because(&error))
}

async fn received(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => _ = signal.recv().await,
        None => std::future::pending().await,
    }
}
