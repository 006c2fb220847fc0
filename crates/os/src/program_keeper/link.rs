//! The owner's side of the keepers of programs.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rustix::process::Signal;

use super::order::{Answer, send_end, send_program};
use crate::program::ProgramStreams;
use crate::{Descriptors as _, ProcessName, ProgramCommand, System, signal_descendants, start};

/// The time that a keeper may take to start a program, and to end one.
const TO_ANSWER: Duration = Duration::from_secs(10);

/// The most keepers that wait for work.
const MOST_IDLE: usize = 2;

/// The program that keeps the programs of this process.
static KEEPER: OnceLock<KeeperProgram> = OnceLock::new();

/// The keepers that have nothing to do.
static IDLE: Mutex<Vec<ProgramKeeper>> = Mutex::new(Vec::new());

/// The numbers of all keepers of this process.
static ALL: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

struct KeeperProgram {
    path: PathBuf,
    argument: &'static str,
}

/// Names our own binary, and the hidden command under which it keeps programs. The first call
/// counts. A process that names none runs its programs without a keeper.
pub fn keep_programs(binary: &Path, argument: &'static str) {
    _ = KEEPER.set(KeeperProgram {
        path: binary.to_owned(),
        argument,
    });
}

/// Returns whether a process is a keeper of programs that this process has started.
pub fn is_program_keeper(pid: u32) -> bool {
    lock(&ALL).contains(&pid)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A keeper. If it is dropped, it is ended; it must have no program then.
#[derive(Debug)]
struct ProgramKeeper {
    process: Child,
    socket: UnixStream,
}

impl ProgramKeeper {
    fn start(program: &KeeperProgram) -> io::Result<Self> {
        let (socket, theirs) = System::socket_pair()?;
        socket.set_read_timeout(Some(TO_ANSWER))?;
        socket.set_write_timeout(Some(TO_ANSWER))?;
        let mut command = Command::new(&program.path);
        // It has no variables, so no key is in its environment. Its group is its own, so that
        // Ctrl-C reaches the owner and nobody else.
        command
            .arg(program.argument)
            .env_clear()
            .process_group(0)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // A thread that looks up the process id of a keeper waits until this one has written it.
        let mut all = lock(&ALL);
        let process = start(&mut command)?;
        all.insert(process.id());
        Ok(Self { process, socket })
    }
}

impl Drop for ProgramKeeper {
    fn drop(&mut self) {
        // A keeper that somebody has stopped would not see that its socket closes.
        _ = self.process.kill();
        _ = self.process.wait();
        lock(&ALL).remove(&self.process.id());
    }
}

/// A program that a keeper has started.
#[derive(Debug)]
pub(crate) struct KeptProgram {
    keeper: ProgramKeeper,
    program: ProcessName,
}

impl KeptProgram {
    /// Starts a program below a keeper; `None` if this process has named none.
    pub(crate) fn start(
        command: &ProgramCommand,
        streams: &ProgramStreams,
    ) -> io::Result<Option<Self>> {
        let Some(program) = KEEPER.get() else {
            return Ok(None);
        };
        let keeper = with_program(program, command, streams)?;
        // The program may have killed its keeper before that could say that it runs.
        match Answer::receive(&keeper.socket).map_err(|_| keeper_was_killed())? {
            Answer::Started { pid } => Ok(Some(Self {
                keeper,
                program: ProcessName::of(pid),
            })),
            Answer::CouldNotStart { number } => {
                put_back(keeper);
                Err(io::Error::from_raw_os_error(number))
            }
            Answer::Ended { .. } => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Returns a descriptor that becomes readable when nothing of the program is left.
    pub(crate) fn exit(&self) -> BorrowedFd<'_> {
        self.keeper.socket.as_fd()
    }

    /// Returns the status of a program that has ended.
    pub(crate) fn status(&self) -> io::Result<ExitStatus> {
        match Answer::receive(&self.keeper.socket) {
            Ok(Answer::Ended { status }) => Ok(ExitStatus::from_raw(status)),
            Ok(_) | Err(_) => Err(keeper_was_killed()),
        }
    }

    /// Leaves a program that has ended.
    pub(crate) fn leave(self) {
        put_back(self.keeper);
    }

    /// Ends a program and all it has started.
    pub(crate) fn end(self) {
        if send_end(&self.keeper.socket).is_ok() && self.status().is_ok() {
            self.leave();
            return;
        }
        // The keeper is dead, or somebody has stopped it.
        signal_descendants(self.keeper.process.id(), Signal::KILL);
        signal_descendants(self.program.pid, Signal::KILL);
        self.program.kill();
    }
}

fn keeper_was_killed() -> io::Error {
    io::Error::other("the process that kept it was killed")
}

/// Returns a keeper that has got a program. One that waited may have been killed meanwhile; it has
/// started nothing then, because it did not take the whole command.
fn with_program(
    program: &KeeperProgram,
    command: &ProgramCommand,
    streams: &ProgramStreams,
) -> io::Result<ProgramKeeper> {
    while let Some(keeper) = take_idle() {
        if send_program(&keeper.socket, command, streams).is_ok() {
            return Ok(keeper);
        }
    }
    let keeper = ProgramKeeper::start(program)?;
    send_program(&keeper.socket, command, streams)?;
    Ok(keeper)
}

fn take_idle() -> Option<ProgramKeeper> {
    lock(&IDLE).pop()
}

fn put_back(keeper: ProgramKeeper) {
    let mut idle = lock(&IDLE);
    if idle.len() < MOST_IDLE {
        idle.push(keeper);
    }
}
