//! Runs one program to its end: it gets its input, and its output and its time have a limit.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::Signal;

use crate::{ProcessName, Processes as _, System, signal_descendants, start};

/// The number of bytes of a program's stderr that are kept.
const MOST_STDERR: usize = 64 * 1024;

/// The limits of one program.
#[derive(Debug, Clone, Copy)]
pub struct ProgramBounds {
    /// The longest time.
    pub time: Duration,
    /// The most bytes of stdout.
    pub output: usize,
}

/// A program that has come to its end.
#[derive(Debug)]
pub struct EndedProgram {
    /// Its exit status.
    pub status: ExitStatus,
    /// All it has written to stdout.
    pub stdout: Vec<u8>,
    /// The beginning of what it has written to stderr.
    pub stderr: Vec<u8>,
}

/// The reason why a program was ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramCut {
    /// It took too long.
    TimedOut,
    /// It wrote too much to stdout.
    TooMuch,
}

/// Runs a program. The program is in a process group of its own, so that a key that interrupts the
/// caller does not leave a repository half written.
pub fn run_bounded(
    command: &mut Command,
    input: &[u8],
    bounds: ProgramBounds,
) -> io::Result<Result<EndedProgram, ProgramCut>> {
    run_holding(command, input, bounds, None)
}

/// Runs a program that holds a lock as long as it lives, even if its caller is killed. The locked
/// file is the stdin of a program that gets no other.
pub fn run_holding(
    command: &mut Command,
    input: &[u8],
    bounds: ProgramBounds,
    lock: Option<&File>,
) -> io::Result<Result<EndedProgram, ProgramCut>> {
    use std::os::unix::process::CommandExt as _;
    let stdin = match lock {
        _ if !input.is_empty() => Stdio::piped(),
        Some(lock) => lock.try_clone()?.into(),
        None => Stdio::null(),
    };
    command
        .process_group(0)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = start(command)?;
    let followed = Pipes::of(&mut child, input).and_then(|pipes| pipes.follow(&mut child, bounds));
    if !matches!(followed, Ok(Ok(_))) {
        end(&mut child);
    }
    followed
}

/// Ends a program and all it has started.
fn end(child: &mut Child) {
    signal_descendants(child.id(), Signal::KILL);
    ProcessName::of(child.id()).kill();
    // Somebody who is dead already has been waited for.
    _ = child.wait();
}

/// The pipes of a program. They are all waited for together.
struct Pipes<'a> {
    /// `None` if the program has ended before it was followed.
    exit: Option<OwnedFd>,
    input: Option<(std::process::ChildStdin, &'a [u8])>,
    stdout: Output<std::process::ChildStdout>,
    stderr: Output<std::process::ChildStderr>,
}

struct Output<P> {
    pipe: Option<P>,
    said: Vec<u8>,
}

impl<'a> Pipes<'a> {
    fn of(child: &mut Child, input: &'a [u8]) -> io::Result<Self> {
        let stdin = child.stdin.take();
        if let Some(stdin) = &stdin {
            never_wait(stdin)?;
        }
        Ok(Self {
            exit: System::exit_of(ProcessName::of(child.id()))?,
            input: stdin.map(|stdin| (stdin, input)),
            stdout: Output::of(child.stdout.take())?,
            stderr: Output::of(child.stderr.take())?,
        })
    }

    fn follow(
        mut self,
        child: &mut Child,
        bounds: ProgramBounds,
    ) -> io::Result<Result<EndedProgram, ProgramCut>> {
        let deadline = Instant::now() + bounds.time;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let has_ended = self.wait(left)?;
            self.write()?;
            self.stdout.read(bounds.output.saturating_add(1))?;
            self.stderr.read(usize::MAX)?;
            self.stderr.said.truncate(MOST_STDERR);
            if self.stdout.said.len() > bounds.output {
                return Ok(Err(ProgramCut::TooMuch));
            }
            if has_ended {
                return Ok(Ok(EndedProgram {
                    status: child.wait()?,
                    stdout: self.stdout.said,
                    stderr: self.stderr.said,
                }));
            }
            if left.is_zero() {
                return Ok(Err(ProgramCut::TimedOut));
            }
        }
    }

    /// Waits until there is something to do; returns whether the program has ended.
    fn wait(&self, longest: Duration) -> io::Result<bool> {
        let Some(exit) = &self.exit else {
            return Ok(true);
        };
        let mut waited = vec![PollFd::new(exit, PollFlags::IN)];
        if let Some(pipe) = &self.stdout.pipe {
            waited.push(PollFd::new(pipe, PollFlags::IN));
        }
        if let Some(pipe) = &self.stderr.pipe {
            waited.push(PollFd::new(pipe, PollFlags::IN));
        }
        if let Some((pipe, _)) = &self.input {
            waited.push(PollFd::new(pipe, PollFlags::OUT));
        }
        match poll(&mut waited, Timespec::try_from(longest).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(!waited[0].revents().is_empty()),
            Err(error) => Err(error.into()),
        }
    }

    fn write(&mut self) -> io::Result<()> {
        while let Some((pipe, left)) = &mut self.input {
            if left.is_empty() {
                self.input = None;
                return Ok(());
            }
            match pipe.write(left) {
                Ok(written) => *left = &left[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A program that closes its input shows in its status whether it has had enough.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.input = None,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<P: Read + AsFd> Output<P> {
    fn of(pipe: Option<P>) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            never_wait(pipe)?;
        }
        let said = Vec::new();
        Ok(Self { pipe, said })
    }

    /// Reads the present bytes, up to a number of bytes in all.
    fn read(&mut self, most: usize) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        while let Some(pipe) = &mut self.pipe {
            if self.said.len() >= most {
                return Ok(());
            }
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(read) => self.said.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn never_wait(pipe: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&pipe)?;
    Ok(fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: ProgramBounds = ProgramBounds {
        time: Duration::from_mins(1),
        output: 1 << 20,
    };

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn much_goes_in_and_comes_out() {
        let input = vec![b'x'; 1 << 20];
        let ended = run_bounded(&mut shell("cat; echo why >&2; exit 3"), &input, BOUNDS).unwrap();
        let ended = ended.unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert!(ended.stdout == input);
        assert_eq!(ended.stderr, b"why\n");
    }

    #[test]
    fn input_that_nobody_reads_is_no_error() {
        let input = vec![b'x'; 1 << 20];
        let ended = run_bounded(&mut shell("exit 0"), &input, BOUNDS)
            .unwrap()
            .unwrap();
        assert!(ended.status.success());
    }

    #[test]
    fn too_long_and_too_much_end_the_program() {
        let short = ProgramBounds {
            time: Duration::from_millis(50),
            ..BOUNDS
        };
        // The pipe stays open in the second process, and nobody waits for it.
        let ended = run_bounded(&mut shell("sleep 1000 & sleep 1000"), b"", short).unwrap();
        assert_eq!(ended.unwrap_err(), ProgramCut::TimedOut);
        let ended = run_bounded(&mut shell("yes"), b"", BOUNDS).unwrap();
        assert_eq!(ended.unwrap_err(), ProgramCut::TooMuch);
    }
}
