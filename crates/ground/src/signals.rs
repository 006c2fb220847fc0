//! Signals of the operating system.

use std::time::{Duration, Instant};

use pi_subagents_os::Signal as SignalName;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;
use tracing::info;

use crate::error::CommandError;

/// The time that it may take to stop this process.
const TO_STOP: Duration = Duration::from_secs(1);

/// The signals that ask us to end or to pause.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// `None` for a process that is stopped without a word.
    suspend: Option<Signal>,
    /// `None` for a process that goes on when its terminal is gone.
    hang_up: Option<Signal>,
}

impl Signals {
    pub fn listen() -> Result<Self, CommandError> {
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: Some(listen(SignalKind::hangup())?),
            suspend: None,
        })
    }

    /// Listens for a process that has something to do before Ctrl-Z stops it.
    pub fn listen_to_pause() -> Result<Self, CommandError> {
        Ok(Self {
            suspend: Some(listen(SignalKind::from_raw(SignalName::TSTP.as_raw()))?),
            ..Self::listen()?
        })
    }

    /// Listens for a process that outlives its terminal: a hang-up arrives and changes nothing.
    pub fn listen_detached() -> Result<Self, CommandError> {
        let all = Self::listen_to_pause()?;
        Ok(Self {
            hang_up: None,
            ..all
        })
    }

    /// Waits for the next signal that ends us and returns its number.
    pub async fn next(&mut self) -> i32 {
        loop {
            if let Told::End(number) = self.next_signal().await {
                return number;
            }
        }
    }

    /// Waits for the next signal.
    pub async fn next_signal(&mut self) -> Told {
        let kind = tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
            () = received(self.hang_up.as_mut()) => SignalKind::hangup(),
            () = received(self.suspend.as_mut()) => {
                info!("told to pause");
                return Told::Pause;
            }
        };
        let signal = kind.as_raw_value();
        info!(signal, "signal received");
        Told::End(signal)
    }
}

/// The request of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// To end, by the signal of this number.
    End(i32),
    /// To stop until somebody continues us.
    Pause,
}

impl Told {
    /// The terminal of this process is gone.
    pub const HANG_UP: Self = Self::End(SignalName::HUP.as_raw());
}

/// Stops this process until somebody continues it; returns how long that took.
pub async fn stop_this_process() -> Duration {
    let stopped_at = Instant::now();
    let continued = signal(SignalKind::from_raw(SignalName::CONT.as_raw()));
    pi_subagents_os::stop_this_process();
    if let Ok(mut continued) = continued {
        // The signal may take a moment to stop all threads; time goes on while they are stopped.
        _ = timeout(TO_STOP, continued.recv()).await;
    }
    stopped_at.elapsed()
}

/// Lets a write fail to a file that may not grow any more, instead of ending this process.
pub fn survive_large_files() {
    // Without the handler, the default of the system stays.
    _ = signal(SignalKind::from_raw(SignalName::XFSZ.as_raw()));
}

/// Leaves Ctrl-C to the program that has the terminal now.
pub fn survive_interrupts() {
    // Without the handler, Ctrl-C ends both of us, as without this call.
    _ = signal(SignalKind::interrupt());
}

fn listen(kind: SignalKind) -> Result<Signal, CommandError> {
    signal(kind)
        .map_err(|error| CommandError::failed("could not listen for signals").because(&error))
}

async fn received(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => _ = signal.recv().await,
        None => std::future::pending().await,
    }
}
