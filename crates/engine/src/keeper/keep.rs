//! The life of a keeper process.

use std::ffi::OsString;
use std::io::{self, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use super::tree::ProcessTree;
use super::wire::{Handed, Order, Report};

/// The variable that tells a child on which descriptor its key is.
const KEY_DESCRIPTOR: &str = "PI_SUBAGENTS_KEY_FD";

/// How long a tree may take to leave when its owner is dead.
const GRACE_WITHOUT_OWNER: Duration = Duration::from_secs(1);

/// How soon a killed tree is swept again: a process may fork while it is being killed.
const SWEEP_AGAIN: Duration = Duration::from_millis(20);

/// Keeps the child whose program and arguments these are; returns when nothing of it is left.
///
/// Runs as a process of its own, whose stdin is the control socket and whose stdout and stderr
/// are the child's.
pub fn keep(mut command_line: impl Iterator<Item = OsString>) -> io::Result<()> {
    let control = StdStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut reports = control.try_clone()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let Descriptors { stdin, key, lock } = receive_descriptors(&control)?;
    let program = command_line.next().unwrap_or_default();
    let child = match start(&program, command_line, (stdin, key)) {
        Ok(child) => child,
        Err(error) => {
            release(lock)?;
            let reason = format!("{}: {error}", program.display());
            return report(&mut reports, &Report::CouldNotStart { reason });
        }
    };
    let pid = child.id();
    report(&mut reports, &Report::Started { pid })?;
    control.set_nonblocking(true)?;
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(async {
            Keeper {
                child: pid,
                orders: BufReader::new(UnixStream::from_std(control)?).lines(),
                owner_is_there: true,
                reports,
                state: State::Watching,
                killed: 0,
                child_changed: signal(SignalKind::child())?,
                told: [
                    signal(SignalKind::terminate())?,
                    signal(SignalKind::interrupt())?,
                    signal(SignalKind::hangup())?,
                ],
            }
            .watch()
            .await
        })?;
    release(lock)
}

/// Takes the run's name out of the lock and lets go of it: nothing of the run is left.
fn release(lock: Option<OwnedFd>) -> io::Result<()> {
    if let Some(lock) = lock {
        rustix::fs::ftruncate(lock, 0)?;
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the keeper is the process that starts the child"
)]
fn start(
    program: &OsString,
    arguments: impl Iterator<Item = OsString>,
    (stdin, key): (OwnedFd, Option<OwnedFd>),
) -> io::Result<std::process::Child> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::from(stdin))
        .process_group(0);
    if let Some(key) = &key {
        // The child inherits this one descriptor under its number, reads it and closes it.
        rustix::io::fcntl_setfd(key, rustix::io::FdFlags::empty())?;
        command.env(KEY_DESCRIPTOR, key.as_raw_fd().to_string());
    }
    let child = command.spawn()?;
    drop(key);
    // From here on the child alone holds its stdout and stderr, so they close when it is gone.
    let nowhere = OwnedFd::from(std::fs::File::options().write(true).open("/dev/null")?);
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    Ok(child)
}

/// What the owner hands over.
struct Descriptors {
    stdin: OwnedFd,
    key: Option<OwnedFd>,
    /// Held until nothing of the tree is left; no child inherits it.
    lock: Option<OwnedFd>,
}

fn receive_descriptors(control: &StdStream) -> io::Result<Descriptors> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    recvmsg(
        control,
        &mut [IoSliceMut::new(&mut byte)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )
    .map_err(|_| no_owner())?;
    ancillary
        .drain()
        .find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .and_then(|descriptors| sort(byte[0], descriptors))
        .ok_or_else(no_owner)
}

/// Tells the descriptors apart by the byte that came with them.
fn sort(what: u8, mut descriptors: impl Iterator<Item = OwnedFd>) -> Option<Descriptors> {
    let stdin = descriptors.next()?;
    let mut next_if = |handed: Handed| {
        if what & handed.bit() == 0 {
            None
        } else {
            descriptors.next()
        }
    };
    Some(Descriptors {
        stdin,
        key: next_if(Handed::Key),
        lock: next_if(Handed::Lock),
    })
}

fn no_owner() -> io::Error {
    io::Error::other("no owner on stdin: the keeper is started by pi-subagents itself")
}

fn report(reports: &mut StdStream, report: &Report) -> io::Result<()> {
    let mut line = serde_json::to_string(report)?;
    line.push('\n');
    match reports.write_all(line.as_bytes()) {
        // The owner may be gone; what is left to do does not depend on it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

struct Keeper {
    child: u32,
    orders: Lines<BufReader<UnixStream>>,
    owner_is_there: bool,
    reports: StdStream,
    state: State,
    killed: usize,
    child_changed: SignalStream,
    told: [SignalStream; 3],
}

#[derive(Clone, Copy)]
enum State {
    /// The child works.
    Watching,
    /// The tree was told to end and has until then.
    Terminating { until: Instant },
    /// The tree is being killed, and swept again then.
    Killing { again: Instant },
}

enum Happened {
    ChildChanged,
    Ordered(Order),
    OwnerGone,
    Told,
    Alarm,
}

impl Keeper {
    async fn watch(mut self) -> io::Result<()> {
        // Having no child left means that the whole tree is gone: a subreaper inherits all.
        while !self.reap()? {
            match self.next().await {
                Happened::ChildChanged => {}
                Happened::Ordered(Order::Stop { grace }) => self.terminate(grace),
                Happened::OwnerGone => {
                    self.owner_is_there = false;
                    self.terminate(GRACE_WITHOUT_OWNER);
                }
                Happened::Told => self.terminate(GRACE_WITHOUT_OWNER),
                Happened::Alarm => self.kill(),
            }
        }
        let killed = self.killed;
        report(&mut self.reports, &Report::Gone { killed })
    }

    async fn next(&mut self) -> Happened {
        let alarm = match self.state {
            State::Watching => None,
            State::Terminating { until } => Some(until),
            State::Killing { again } => Some(again),
        };
        let [terminate, interrupt, hang_up] = &mut self.told;
        tokio::select! {
            _ = self.child_changed.recv() => Happened::ChildChanged,
            order = self.orders.next_line(), if self.owner_is_there => ordered(order),
            _ = terminate.recv() => Happened::Told,
            _ = interrupt.recv() => Happened::Told,
            _ = hang_up.recv() => Happened::Told,
            () = sleep_until(alarm.unwrap_or_else(Instant::now)), if alarm.is_some() => Happened::Alarm,
        }
    }

    /// Tells the whole tree to end; a later order can only shorten the time it has.
    fn terminate(&mut self, grace: Duration) {
        let until = Instant::now() + grace;
        match self.state {
            State::Killing { .. } => return,
            State::Terminating { until: earlier } if earlier <= until => return,
            State::Watching | State::Terminating { .. } => {}
        }
        self.state = State::Terminating { until };
        ProcessTree::look().signal_descendants(std::process::id(), Signal::TERM);
    }

    fn kill(&mut self) {
        let again = Instant::now() + SWEEP_AGAIN;
        self.state = State::Killing { again };
        self.killed += ProcessTree::look().signal_descendants(std::process::id(), Signal::KILL);
    }

    /// Reaps whoever has exited; true when nobody is left.
    fn reap(&mut self) -> io::Result<bool> {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => self.reaped(pid, status)?,
                Ok(None) => return Ok(false),
                Err(rustix::io::Errno::CHILD) => return Ok(true),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn reaped(&mut self, pid: Pid, status: WaitStatus) -> io::Result<()> {
        if u32::try_from(pid.as_raw_nonzero().get()) != Ok(self.child) {
            return Ok(());
        }
        // Once the child itself has exited, what it left behind is killed at once.
        self.state = State::Killing {
            again: Instant::now(),
        };
        report(
            &mut self.reports,
            &Report::Exited {
                code: status.exit_status(),
                signal: status.terminating_signal(),
            },
        )
    }
}

fn ordered(line: io::Result<Option<String>>) -> Happened {
    match line {
        Ok(Some(line)) => match serde_json::from_str(&line) {
            Ok(order) => Happened::Ordered(order),
            // Only our own binary speaks here; whoever else does gets the tree ended.
            Err(_) => Happened::Told,
        },
        Ok(None) | Err(_) => Happened::OwnerGone,
    }
}
