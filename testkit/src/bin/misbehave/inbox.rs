//! The commands of the owner, read on a thread of their own while a script plays.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The input on stdin.
#[derive(Debug)]
pub(crate) enum Input {
    /// A line, without its LF.
    Line(String),
    /// The owner closed stdin.
    Eof,
}

/// A command of the owner.
#[derive(Debug, Deserialize)]
pub(crate) struct Command {
    pub(crate) id: Option<Box<RawValue>>,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) message: String,
}

/// The receiving end of stdin.
#[derive(Debug)]
pub(crate) struct Inbox {
    inputs: Receiver<Input>,
    /// Keeps the channel open when the reader has ended, so that waiting still waits.
    sender: Sender<Input>,
    reader: Reader,
}

/// The state of the thread that reads stdin.
#[derive(Debug)]
enum Reader {
    NotStarted,
    Reading {
        thread: JoinHandle<()>,
        wake: OwnedFd,
    },
    Closed,
}

impl Inbox {
    /// Makes an inbox that does not read yet.
    pub(crate) fn new() -> Self {
        let (sender, inputs) = mpsc::channel();
        Self {
            inputs,
            sender,
            reader: Reader::NotStarted,
        }
    }

    /// Starts to read, unless stdin was closed by a step.
    pub(crate) fn open(&mut self) -> io::Result<()> {
        if matches!(self.reader, Reader::NotStarted) {
            let (waker, wake) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
            let sender = self.sender.clone();
            let thread = thread::spawn(move || read_lines(&waker, &sender));
            self.reader = Reader::Reading { thread, wake };
        }
        Ok(())
    }

    /// Closes stdin, so that the owner's next write fails.
    ///
    /// The reader is woken and joined first: a blocked read would keep the pipe open.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        if let Reader::Reading { thread, wake } =
            std::mem::replace(&mut self.reader, Reader::Closed)
        {
            drop(wake);
            let _ = thread.join();
        }
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        Ok(())
    }

    /// Waits for the next input.
    pub(crate) fn next(&self) -> Input {
        self.inputs.recv().unwrap_or(Input::Eof)
    }

    /// Waits for the next input, but not longer than `patience`.
    pub(crate) fn next_within(&self, patience: Duration) -> Option<Input> {
        self.inputs.recv_timeout(patience).ok()
    }
}

fn read_lines(waker: &OwnedFd, sender: &Sender<Input>) {
    let mut pending = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    while wait_until_readable(waker) {
        let count = match rustix::io::read(io::stdin().as_fd(), &mut chunk) {
            Ok(count) => count,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => 0,
        };
        if count == 0 {
            let _ = sender.send(Input::Eof);
            return;
        }
        pending.extend_from_slice(&chunk[..count]);
        if chunk[..count].contains(&b'\n') {
            send_lines(&mut pending, sender);
        }
    }
}

/// Returns whether stdin can be read; `false` means that the waker was dropped.
fn wait_until_readable(waker: &OwnedFd) -> bool {
    let stdin = io::stdin();
    loop {
        let mut ends = [
            PollFd::new(waker, PollFlags::IN),
            PollFd::new(&stdin, PollFlags::IN),
        ];
        match poll(&mut ends, None) {
            Ok(_) if !ends[0].revents().is_empty() => return false,
            Ok(_) if !ends[1].revents().is_empty() => return true,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return true,
        }
    }
}

fn send_lines(pending: &mut Vec<u8>, sender: &Sender<Input>) {
    let mut start = 0;
    while let Some(length) = pending[start..].iter().position(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(&pending[start..start + length]).into_owned();
        let _ = sender.send(Input::Line(line));
        start += length + 1;
    }
    pending.drain(..start);
}
