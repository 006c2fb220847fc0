//! A command that was started and has not been waited for.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::Signal;

use super::normalise::Normaliser;
use super::output::CommandOutput;
use crate::process;
use crate::wait::wait_until;

/// The time for which the streams may stay open after the command has exited.
const PATIENCE_FOR_STREAMS: Duration = Duration::from_mins(1);

/// A running command; dropping it kills it with all its descendants.
#[derive(Debug)]
pub struct RunningCommand {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Stream,
    stderr: Stream,
    patience: Duration,
    normaliser: Normaliser,
}

impl RunningCommand {
    pub(super) fn new(
        mut child: Child,
        input: Option<Vec<u8>>,
        patience: Duration,
        normaliser: Normaliser,
    ) -> Self {
        let stdout = Stream::read(child.stdout.take().expect("a piped stdout"));
        let stderr = Stream::read(child.stderr.take().expect("a piped stderr"));
        let mut stdin = child.stdin.take();
        if let Some(input) = input {
            let mut pipe = stdin.take().expect("a piped stdin");
            // On a thread, because the command may not read before it has written.
            thread::spawn(move || pipe.write_all(&input));
        }
        Self {
            child,
            stdin,
            stdout,
            stderr,
            patience,
            normaliser,
        }
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes a line to stdin; returns `false` if the command does not read any more.
    pub fn write_line(&mut self, line: &str) -> bool {
        let stdin = self.stdin.as_mut().expect("stdin is still open");
        stdin
            .write_all(format!("{line}\n").as_bytes())
            .and_then(|()| stdin.flush())
            .is_ok()
    }

    /// Closes stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal to the command alone.
    pub fn kill(&self, signal: Signal) {
        process::kill(self.pid(), signal);
    }

    /// Returns the stdout so far.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// Returns the stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Waits until stdout contains `text` and returns all of stdout so far.
    #[track_caller]
    pub fn wait_for_stdout(&self, text: &str) -> String {
        self.wait_for(&self.stdout, text)
    }

    /// Waits until stderr contains `text` and returns all of stderr so far.
    #[track_caller]
    pub fn wait_for_stderr(&self, text: &str) -> String {
        self.wait_for(&self.stderr, text)
    }

    /// Waits until stdout is closed, whether or not the command lives on.
    #[track_caller]
    pub fn wait_for_stdout_end(&self) -> String {
        let ended = wait_until(self.patience, || self.stdout.is_over().then_some(()));
        assert!(ended.is_some(), "stdout was not closed\n{}", self.so_far());
        self.stdout()
    }

    /// Returns whether the command is still running.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_none())
    }

    /// Waits for the end. Stdin stays as it is: close it first if the command waits for that.
    ///
    /// # Panics
    ///
    /// If the end does not come in time, or a descendant keeps stdout or stderr open after it.
    #[must_use = "look at the output, or call `expect_success`"]
    #[track_caller]
    pub fn wait(mut self) -> CommandOutput {
        let ended = wait_until(self.patience, || self.child.try_wait().ok().flatten());
        let Some(status) = ended else {
            panic!("not over after {:?}\n{}", self.patience, self.so_far());
        };
        let both_over = || (self.stdout.is_over() && self.stderr.is_over()).then_some(());
        assert!(
            wait_until(PATIENCE_FOR_STREAMS, both_over).is_some(),
            "a descendant keeps the output open after the end\n{}",
            self.so_far()
        );
        self.output(status)
    }

    /// Waits for the end of the command alone and returns the output so far, even if a descendant
    /// keeps stdout or stderr open.
    #[must_use = "look at the output, or call `expect_success`"]
    #[track_caller]
    pub fn wait_for_exit(mut self) -> CommandOutput {
        let ended = wait_until(self.patience, || self.child.try_wait().ok().flatten());
        let Some(status) = ended else {
            panic!("not over after {:?}\n{}", self.patience, self.so_far());
        };
        self.output(status)
    }

    #[track_caller]
    fn wait_for(&self, stream: &Stream, text: &str) -> String {
        let found = || Some(stream.text()).filter(|so_far| so_far.contains(text));
        // A stream that is over is looked at once more: the text may have been its end.
        wait_until(self.patience, || {
            let is_over = stream.is_over();
            found().map(Ok).or(is_over.then_some(Err(())))
        })
        .and_then(Result::ok)
        .unwrap_or_else(|| panic!("no `{text}` in the output\n{}", self.so_far()))
    }

    fn output(&self, status: ExitStatus) -> CommandOutput {
        CommandOutput {
            code: status.code(),
            signal: status.signal(),
            stdout: self.stdout(),
            stderr: self.stderr(),
            normaliser: self.normaliser.clone(),
        }
    }

    fn so_far(&self) -> String {
        format!(
            "--- stdout so far\n{}\n--- stderr so far\n{}",
            self.stdout(),
            self.stderr()
        )
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        if !self.is_running() {
            return;
        }
        let descendants = process::descendants(self.pid());
        let _ = self.child.kill();
        let _ = self.child.wait();
        for pid in descendants {
            process::kill(pid, Signal::KILL);
        }
    }
}

/// An output stream, collected on a thread of its own.
#[derive(Debug)]
struct Stream {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Stream {
    fn read(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let collected = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let mut chunk = vec![0; 64 * 1024];
            while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                collected
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .extend_from_slice(&chunk[..count]);
            }
        });
        Self { bytes, reader }
    }

    fn is_over(&self) -> bool {
        self.reader.is_finished()
    }

    fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
