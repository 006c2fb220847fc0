//! What a child complains about: its stderr, which is text and nothing else.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;

use memchr::memchr;
use tokio::net::unix::pipe::Receiver;

/// Longer lines are broken.
const LONGEST_LINE: usize = 16 << 10;

/// How many of the last lines explain a child that failed.
const LAST_LINES: usize = 5;

/// How much of each of them.
const LAST_LINE_CHARACTERS: usize = 400;

/// The reading end of a child's stderr.
#[derive(Debug)]
pub(crate) struct StderrLines {
    pipe: Receiver,
    partial: Vec<u8>,
    last: VecDeque<String>,
    is_open: bool,
}

impl StderrLines {
    /// Reads from this pipe.
    pub(crate) fn new(pipe: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            pipe: Receiver::from_owned_fd(pipe)?,
            partial: Vec::new(),
            last: VecDeque::new(),
            is_open: true,
        })
    }

    /// Waits for lines; `None` when the child has closed its stderr. Cancelling loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Vec<String>> {
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

    /// The last lines in one, to explain why a child failed.
    pub(crate) fn last_words(&self) -> String {
        let lines: Vec<&str> = self.last.iter().map(String::as_str).collect();
        lines.join("\n")
    }

    fn read(&mut self, lines: &mut Vec<String>) {
        let mut chunk = [0; LONGEST_LINE];
        match self.pipe.try_read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => {
                self.is_open = false;
                self.complete(lines);
            }
            Ok(length) => self.feed(&chunk[..length], lines),
        }
    }

    fn feed(&mut self, mut chunk: &[u8], lines: &mut Vec<String>) {
        while let Some(end) = memchr(b'\n', chunk) {
            self.partial.extend_from_slice(&chunk[..end]);
            self.complete(lines);
            chunk = &chunk[end + 1..];
        }
        self.partial.extend_from_slice(chunk);
        if self.partial.len() >= LONGEST_LINE {
            self.complete(lines);
        }
    }

    fn complete(&mut self, lines: &mut Vec<String>) {
        let line = String::from_utf8_lossy(&self.partial).trim_end().to_owned();
        self.partial.clear();
        if line.is_empty() {
            return;
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last
            .push_back(pi_subagents_delegation::text::cut_characters(
                &line,
                LAST_LINE_CHARACTERS,
            ));
        lines.push(line);
    }
}
