//! Lines to the reader of our stdout.
//!
//! A thread of its own does the blocking writes and a bounded channel leads to it, so a
//! reader that stops reading holds up the work, but neither memory nor the next command.

use std::io::{self, Write};
use std::sync::mpsc as handover;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::mpsc;

/// The number of lines that may wait for a slow reader.
const WAITING_LINES: usize = 32;

/// The end at which records are handed in; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    lines: mpsc::Sender<Vec<u8>>,
}

impl Output {
    /// Returns an output and the end from which its lines are taken.
    pub(crate) fn channel() -> (Self, mpsc::Receiver<Vec<u8>>) {
        let (lines, receiver) = mpsc::channel(WAITING_LINES);
        (Self { lines }, receiver)
    }

    /// Returns whether somebody takes the lines.
    pub(crate) fn has_reader(&self) -> bool {
        !self.lines.is_closed()
    }

    /// Prints one record as a line.
    ///
    /// Nothing is reported back: if the reader is gone, nobody needs the record, and the closed
    /// stdin ends the agent.
    pub(crate) async fn emit(&self, record: &impl Serialize) {
        let Ok(mut line) = serde_json::to_vec(record) else {
            return;
        };
        line.push(b'\n');
        let _ = self.lines.send(line).await;
    }
}

/// The thread that writes to stdout.
pub(crate) struct Writer {
    finished: handover::Receiver<()>,
}

impl Writer {
    /// Starts writing the lines.
    pub(crate) fn start(mut lines: mpsc::Receiver<Vec<u8>>) -> io::Result<Self> {
        let (done, finished) = handover::channel();
        std::thread::Builder::new().spawn(move || {
            let mut stdout = std::io::stdout().lock();
            while let Some(line) = lines.blocking_recv() {
                if stdout
                    .write_all(&line)
                    .and_then(|()| stdout.flush())
                    .is_err()
                {
                    break;
                }
            }
            let _ = done.send(());
        })?;
        Ok(Self { finished })
    }

    /// Waits until everything is written, or `patience` is over.
    ///
    /// All outputs must have been dropped before.
    pub(crate) fn finish(self, patience: Duration) {
        let _ = self.finished.recv_timeout(patience);
    }
}
