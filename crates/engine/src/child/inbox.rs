//! A child's stdout or stderr, read as it comes and split into lines.

use std::io;
use std::os::fd::OwnedFd;

use tokio::net::unix::pipe::Receiver;

/// The number of bytes that are read at a time: as many as a pipe holds.
const CHUNK: usize = 64 << 10;

/// Turns bytes into lines.
pub(crate) trait Splitter {
    /// The result of a line.
    type Line;

    /// Reads the next bytes and adds the lines they complete.
    fn feed(&mut self, chunk: &[u8], lines: &mut Vec<Self::Line>);

    /// Completes the last line when the output is over; it may lack its newline.
    fn finish(&mut self, lines: &mut Vec<Self::Line>);
}

/// The reading end of a child's stdout or stderr.
#[derive(Debug)]
pub(crate) struct Inbox<S> {
    pipe: Receiver,
    splitter: S,
    is_open: bool,
}

impl<S: Splitter> Inbox<S> {
    /// Makes the reader of a pipe.
    pub(crate) fn new(pipe: OwnedFd, splitter: S) -> io::Result<Self> {
        Ok(Self {
            pipe: Receiver::from_owned_fd(pipe)?,
            splitter,
            is_open: true,
        })
    }

    /// Returns the splitter.
    pub(crate) fn splitter(&self) -> &S {
        &self.splitter
    }

    /// Returns the splitter, to be changed.
    pub(crate) fn splitter_mut(&mut self) -> &mut S {
        &mut self.splitter
    }

    /// Waits for lines; `None` when the child has closed its end. Cancelling loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Vec<S::Line>> {
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
    fn read(&mut self, lines: &mut Vec<S::Line>) {
        let mut chunk = [0; CHUNK];
        match self.pipe.try_read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => {
                self.is_open = false;
                self.splitter.finish(lines);
            }
            Ok(length) => self.splitter.feed(&chunk[..length], lines),
        }
    }
}
