//! Writes the messages to a client, one line after the other.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rmcp::transport::io::StdioWriter;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{mpsc, oneshot};

/// The end at which lines are handed in.
#[derive(Clone)]
pub(super) struct Outgoing {
    lines: mpsc::Sender<Waiting>,
    state: Arc<State>,
}

/// The end that writes the lines.
pub(super) struct Written {
    writer: StdioWriter,
    lines: mpsc::Receiver<Waiting>,
    state: Arc<State>,
}

/// A line that waits for its turn, and the sender of the news that it is written.
struct Waiting {
    line: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

/// The state of the writing.
#[derive(Default)]
struct State {
    bytes: AtomicU64,
    is_writing: AtomicBool,
}

impl Outgoing {
    /// Makes the two ends of a queue of lines for this writer; nothing is written before
    /// [`Written::write`].
    pub(super) fn to(writer: StdioWriter) -> (Self, Written) {
        let (sender, lines) = mpsc::channel(1);
        let state = Arc::<State>::default();
        let outgoing = Self {
            lines: sender,
            state: Arc::clone(&state),
        };
        let written = Written {
            writer,
            lines,
            state,
        };
        (outgoing, written)
    }

    /// Writes a line, and returns when the client can read it.
    pub(super) async fn send(&self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        let (written, is_written) = oneshot::channel();
        let closed = || io::Error::from(io::ErrorKind::NotConnected);
        let waiting = Waiting { line, written };
        self.lines.send(waiting).await.map_err(|_| closed())?;
        is_written.await.map_err(|_| closed())?
    }

    /// Returns how many bytes were written.
    pub(super) fn bytes(&self) -> u64 {
        self.state.bytes.load(Ordering::Relaxed)
    }

    /// Returns whether a line is being written that was not read yet.
    pub(super) fn is_writing(&self) -> bool {
        self.state.is_writing.load(Ordering::Relaxed)
    }
}

impl Written {
    /// Writes until no more lines can be handed in.
    pub(super) async fn write(mut self) {
        while let Some(Waiting { line, written }) = self.lines.recv().await {
            self.state.is_writing.store(true, Ordering::Relaxed);
            let result = self.write_one(&line).await;
            self.state.is_writing.store(false, Ordering::Relaxed);
            // The waiting task may be gone.
            _ = written.send(result);
        }
    }

    async fn write_one(&mut self, mut rest: &[u8]) -> io::Result<()> {
        while !rest.is_empty() {
            let count = self.writer.write(rest).await?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.state.bytes.fetch_add(count as u64, Ordering::Relaxed);
            rest = &rest[count..];
        }
        self.writer.flush().await
    }
}
