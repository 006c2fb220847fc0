//! What a child says: its stdout, read as it comes.

use std::io;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe::Receiver;

use super::lines::{Line, LineReader};

/// How much is read at a time: what a pipe holds.
const CHUNK: usize = 64 << 10;

/// The reading end of a child's stdout.
#[derive(Debug)]
pub(crate) struct Inbox {
    pipe: Receiver,
    reader: LineReader,
    is_open: bool,
}

impl Inbox {
    /// Reads from this pipe.
    pub(crate) fn new(pipe: OwnedFd, reader: LineReader) -> io::Result<Self> {
        Ok(Self {
            pipe: Receiver::from_owned_fd(pipe)?,
            reader,
            is_open: true,
        })
    }

    /// Waits for lines; `None` when the child has closed its stdout. Cancelling loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Vec<Line>> {
        let mut lines = Vec::new();
        while self.is_open {
            if self.pipe.readable().await.is_err() {
                self.is_open = false;
            } else {
                self.read(&mut lines);
            }
            if !lines.is_empty() {
                return Some(lines);
            }
        }
        None
    }

    #[expect(
        clippy::large_stack_arrays,
        reason = "it lives for this call only, so that a thousand silent children cost nothing"
    )]
    fn read(&mut self, lines: &mut Vec<Line>) {
        let mut chunk = [0; CHUNK];
        match self.pipe.try_read(&mut chunk) {
            Ok(0) => {
                self.is_open = false;
                self.reader.finish(lines);
            }
            Ok(length) => self.reader.feed(&chunk[..length], lines),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => {
                self.is_open = false;
                self.reader.finish(lines);
            }
        }
    }
}
