//! Runs one program to its end: it gets its input, and its output and its time have a limit.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::Signal;

use crate::program_keeper::KeptProgram;
use crate::{Descriptors as _, ProcessName, Processes as _, System, signal_descendants, start};

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

/// A program with all that it is started with.
#[derive(Debug, Clone)]
pub struct ProgramCommand {
    /// The path of the program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// All of its environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// The directory in which it works, if that is not the directory of this process.
    pub directory: Option<PathBuf>,
}

/// Runs a program. The program is in a process group of its own, so that a key that interrupts the
/// caller does not leave a repository half written. It runs below a keeper, which ends every process
/// that the program leaves behind, also when this process is killed ([`crate::keep_programs`]).
pub fn run_bounded(
    command: &ProgramCommand,
    input: &[u8],
    bounds: ProgramBounds,
) -> io::Result<Result<EndedProgram, ProgramCut>> {
    run_holding(command, input, bounds, None)
}

/// Runs a program that holds a lock as long as it lives, even if its caller is killed. The locked
/// file is the stdin of a program that gets no other.
pub fn run_holding(
    command: &ProgramCommand,
    input: &[u8],
    bounds: ProgramBounds,
    lock: Option<&File>,
) -> io::Result<Result<EndedProgram, ProgramCut>> {
    let (pipes, streams) = Pipes::make(input, lock)?;
    let mut started = StartedProgram::start(command, streams)?;
    let followed = pipes.follow(&mut started, bounds);
    match &followed {
        Ok(Ok(_)) => started.leave(),
        Ok(Err(_)) | Err(_) => started.end(),
    }
    followed
}

/// The three streams of a program, as it gets them.
pub(crate) struct ProgramStreams {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

/// A program that was started.
enum StartedProgram {
    /// A keeper has started it.
    Kept(KeptProgram),
    /// This process has started it itself, because it has named no keeper.
    Own {
        child: Child,
        /// `None` if the program had ended before it was followed.
        exit: Option<OwnedFd>,
    },
}

impl StartedProgram {
    fn start(command: &ProgramCommand, streams: ProgramStreams) -> io::Result<Self> {
        if let Some(kept) = KeptProgram::start(command, &streams)? {
            return Ok(Self::Kept(kept));
        }
        let child = spawn(command, streams)?;
        let exit = System::exit_of(ProcessName::of(child.id()))?;
        Ok(Self::Own { child, exit })
    }

    /// Returns a descriptor that becomes readable when the program has ended; `None` if it has.
    fn exit(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Kept(kept) => Some(kept.exit()),
            Self::Own { exit, .. } => exit.as_ref().map(AsFd::as_fd),
        }
    }

    /// Returns the status of a program that has ended.
    fn status(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Kept(kept) => kept.status(),
            Self::Own { child, .. } => child.wait(),
        }
    }

    /// Leaves a program that has ended.
    fn leave(self) {
        if let Self::Kept(kept) = self {
            kept.leave();
        }
    }

    /// Ends a program and all it has started.
    fn end(self) {
        match self {
            Self::Kept(kept) => kept.end(),
            Self::Own { mut child, .. } => {
                signal_descendants(child.id(), Signal::KILL);
                ProcessName::of(child.id()).kill();
                // A program that is dead already has been waited for.
                _ = child.wait();
            }
        }
    }
}

/// Starts a program as a child of this process.
pub(crate) fn spawn(command: &ProgramCommand, streams: ProgramStreams) -> io::Result<Child> {
    let mut process = Command::new(&command.program);
    process
        .args(&command.arguments)
        .env_clear()
        .envs(&command.environment)
        .process_group(0)
        .stdin(streams.stdin)
        .stdout(streams.stdout)
        .stderr(streams.stderr);
    if let Some(directory) = &command.directory {
        process.current_dir(directory);
    }
    start(&mut process)
}

/// The pipes of a program, as this process has them. They are all waited for together.
struct Pipes<'a> {
    input: Option<(File, &'a [u8])>,
    stdout: Output,
    stderr: Output,
}

struct Output {
    pipe: Option<File>,
    said: Vec<u8>,
}

impl<'a> Pipes<'a> {
    /// Makes the pipes, and the streams that are their other ends.
    fn make(input: &'a [u8], lock: Option<&File>) -> io::Result<(Self, ProgramStreams)> {
        let (stdin, input) = match lock {
            _ if !input.is_empty() => {
                let (reading, writing) = System::pipe()?;
                never_wait(&writing)?;
                (reading, Some((File::from(writing), input)))
            }
            Some(lock) => (lock.try_clone()?.into(), None),
            None => (File::open("/dev/null")?.into(), None),
        };
        let (from_stdout, stdout) = System::pipe()?;
        let (from_stderr, stderr) = System::pipe()?;
        let pipes = Self {
            input,
            stdout: Output::of(from_stdout)?,
            stderr: Output::of(from_stderr)?,
        };
        let streams = ProgramStreams {
            stdin,
            stdout,
            stderr,
        };
        Ok((pipes, streams))
    }

    fn follow(
        mut self,
        started: &mut StartedProgram,
        bounds: ProgramBounds,
    ) -> io::Result<Result<EndedProgram, ProgramCut>> {
        let deadline = Instant::now() + bounds.time;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let has_ended = self.wait(started, left)?;
            self.write()?;
            self.stdout.read(bounds.output.saturating_add(1))?;
            self.stderr.read(usize::MAX)?;
            self.stderr.said.truncate(MOST_STDERR);
            if self.stdout.said.len() > bounds.output {
                return Ok(Err(ProgramCut::TooMuch));
            }
            if has_ended {
                return Ok(Ok(EndedProgram {
                    status: started.status()?,
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
    fn wait(&self, started: &StartedProgram, longest: Duration) -> io::Result<bool> {
        let Some(exit) = started.exit() else {
            return Ok(true);
        };
        let mut waited = vec![PollFd::from_borrowed_fd(exit, PollFlags::IN)];
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

impl Output {
    fn of(pipe: OwnedFd) -> io::Result<Self> {
        never_wait(&pipe)?;
        Ok(Self {
            pipe: Some(File::from(pipe)),
            said: Vec::new(),
        })
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

    fn shell(script: &str) -> ProgramCommand {
        ProgramCommand {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: std::env::vars_os().collect(),
            directory: None,
        }
    }

    #[test]
    fn much_goes_in_and_comes_out() {
        let input = vec![b'x'; 1 << 20];
        let ended = run_bounded(&shell("cat; echo why >&2; exit 3"), &input, BOUNDS).unwrap();
        let ended = ended.unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert!(ended.stdout == input);
        assert_eq!(ended.stderr, b"why\n");
    }

    #[test]
    fn input_that_nobody_reads_is_no_error() {
        let input = vec![b'x'; 1 << 20];
        let ended = run_bounded(&shell("exit 0"), &input, BOUNDS)
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
        let ended = run_bounded(&shell("sleep 1000 & sleep 1000"), b"", short).unwrap();
        assert_eq!(ended.unwrap_err(), ProgramCut::TimedOut);
        let ended = run_bounded(&shell("yes"), b"", BOUNDS).unwrap();
        assert_eq!(ended.unwrap_err(), ProgramCut::TooMuch);
    }
}
