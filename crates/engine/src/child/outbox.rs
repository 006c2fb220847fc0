//! The commands to a child: its stdin, written by a task of its own, because a child that does not
//! read its stdin must not keep us from reading its stdout.

use std::io;
use std::os::fd::OwnedFd;

use pi_subagents_vocabulary::child_protocol::Command;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe::Sender;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The writing end of a child's stdin. Closing it makes the child leave.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// Unbounded: a person or a program steers by hand, and a prompt is sent once.
    lines: mpsc::UnboundedSender<String>,
    writer: JoinHandle<()>,
}

impl Outbox {
    /// Makes the writer of a pipe.
    pub(crate) fn new(pipe: OwnedFd) -> io::Result<Self> {
        let pipe = Sender::from_owned_fd(pipe)?;
        let (lines, waiting) = mpsc::unbounded_channel();
        Ok(Self {
            lines,
            writer: tokio::spawn(write(pipe, waiting)),
        })
    }

    /// Sends a command. It is lost if the child has closed its stdin, which shows otherwise.
    pub(crate) fn send(&self, command: &Command) {
        _ = self.lines.send(command.to_line());
    }

    /// Closes the child's stdin, also in the middle of a line that it does not read.
    pub(crate) async fn close(self) {
        self.writer.abort();
        // We aborted the task ourselves, so its error is expected.
        _ = self.writer.await;
    }
}

async fn write(mut pipe: Sender, mut lines: mpsc::UnboundedReceiver<String>) {
    while let Some(line) = lines.recv().await {
        if pipe.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}
