//! Lines to the owner, and notices on stderr, which the owner records beside them.

use std::io::{self, Write as _};
use std::sync::mpsc as handover;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;

/// The number of lines that may wait for a slow reader.
const WAITING: usize = 32;

/// The end at which records are handed in.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    lines: mpsc::Sender<Vec<u8>>,
}

/// The thread that writes to stdout.
pub(crate) struct Writer {
    finished: handover::Receiver<()>,
}

/// Starts the thread that writes.
pub(crate) fn start() -> io::Result<(Output, Writer)> {
    let (lines, mut receiver) = mpsc::channel::<Vec<u8>>(WAITING);
    let (done, finished) = handover::channel();
    std::thread::Builder::new().spawn(move || {
        let mut stdout = io::stdout().lock();
        while let Some(line) = receiver.blocking_recv() {
            if stdout
                .write_all(&line)
                .and_then(|()| stdout.flush())
                .is_err()
            {
                break;
            }
        }
        _ = done.send(());
    })?;
    Ok((Output { lines }, Writer { finished }))
}

impl Output {
    /// Prints a record.
    pub(crate) async fn emit(&self, record: &Value) {
        let mut line = record.to_string().into_bytes();
        line.push(b'\n');
        // Without a reader nobody needs the record.
        _ = self.lines.send(line).await;
    }
}

impl Writer {
    /// Waits a moment until everything is written. All outputs must have been dropped before.
    pub(crate) fn finish(self) {
        _ = self.finished.recv_timeout(Duration::from_secs(1));
    }
}

/// Tells something that no model wrote.
pub(crate) fn notice(text: &str) {
    // Nobody may read it.
    _ = io::stderr().write_all(format!("{}\n", text.trim_end()).as_bytes());
}

/// Starts reading the commands of the owner; the channel closes at the end of stdin.
pub(crate) fn commands() -> io::Result<mpsc::Receiver<Value>> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::Builder::new().spawn(move || {
        for line in io::stdin().lines() {
            let Ok(line) = line else { return };
            if line.trim().is_empty() {
                continue;
            }
            let command = serde_json::from_str(&line).unwrap_or(Value::Null);
            if sender.blocking_send(command).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}
