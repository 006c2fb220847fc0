//! The life of a keeper process.

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use pi_subagents_os::{
    ProcessName, descendants, name_this_process, signal_descendants, stop_descendants,
};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getrlimit, setrlimit, wait,
};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};
use tokio::time::{Instant, sleep_until};
use tracing::{debug, info};

use super::KEEPER_NAME;
use super::group::{Group, earliest};
use super::handover::{ChildCommand, Descriptors};
use super::owner_sign::OwnerSign;
use super::wire::{Order, Report};
use crate::room::is_for_want_of_room;

/// The variable that holds the number of the descriptor with the child's key.
const KEY_DESCRIPTOR: &str = "PI_SUBAGENTS_KEY_FD";

/// The variable that holds the number of the descriptor with the child's secret variables.
const SECRETS_DESCRIPTOR: &str = "PI_SUBAGENTS_SECRETS_FD";

/// The time that a tree may take to leave when its owner is dead.
pub(crate) const GRACE_WITHOUT_OWNER: Duration = Duration::from_secs(1);

/// The pause before a killed tree is swept again: a process may fork while it is being killed.
const SWEEP_AGAIN: Duration = Duration::from_millis(20);

/// Keeps the child that its owner names; returns when all of its processes are gone.
///
/// Runs as a process of its own, whose stdin is the control socket and whose stdout and stderr are
/// the child's.
pub fn keep(run: &str) -> io::Result<()> {
    let owner = ProcessName::of_parent();
    // If the keeper cannot change its name, it still does its work.
    _ = name_this_process(KEEPER_NAME);
    let control = StdStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut reports = control.try_clone()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let Descriptors {
        stdin,
        key,
        lock,
        secrets,
    } = Descriptors::receive(&control)?;
    let command = ChildCommand::receive(&control)?;
    let inherited = [(KEY_DESCRIPTOR, key), (SECRETS_DESCRIPTOR, secrets)];
    let child = match start(&command, stdin, inherited) {
        Ok(child) => child,
        Err(error) => {
            release(lock)?;
            let program = command.words.first().map(|program| program.display());
            let reason = format!(
                "{}: {error}",
                program
                    .map(|program| program.to_string())
                    .unwrap_or_default()
            );
            let refusal = Report::CouldNotStart {
                reason,
                for_want_of_room: is_for_want_of_room(&error),
            };
            return report(&mut reports, &refusal);
        }
    };
    let pid = child.id();
    debug!(child = pid, "child started");
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
                owner_sign: OwnerSign::default(),
                paused: HashSet::new(),
                group: Group::due(owner, run),
                child_changed: signal(SignalKind::child())?,
                end_signals: [
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

/// Takes the run's name out of the lock and lets go of it: no process of the run is left.
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
    child: &ChildCommand,
    stdin: OwnedFd,
    inherited: [(&str, Option<OwnedFd>); 2],
) -> io::Result<std::process::Child> {
    let (program, arguments) = child
        .words
        .split_first()
        .ok_or_else(|| io::Error::other("there is no program to start"))?;
    give_file_limit_back(child.file_limit);
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::from(stdin))
        .process_group(0);
    for (variable, descriptor) in &inherited {
        if let Some(descriptor) = descriptor {
            // The child inherits it under its number and reads it to its end.
            rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty())?;
            command.env(variable, descriptor.as_raw_fd().to_string());
        }
    }
    let child = command.spawn()?;
    drop(inherited);
    // From here on the child alone holds its stdout and stderr, so they close when it is gone.
    let nowhere = OwnedFd::from(std::fs::File::options().write(true).open("/dev/null")?);
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    Ok(child)
}

/// Gives the child the limit that its owner was started with: the owner has raised its own, and
/// there are programs that cannot live with many descriptors.
fn give_file_limit_back(limit: Option<u64>) {
    if let Some(current) = limit {
        let rest = getrlimit(Resource::Nofile);
        // A limit can always be lowered.
        _ = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: Some(current),
                ..rest
            },
        );
    }
}

fn report(reports: &mut StdStream, report: &Report) -> io::Result<()> {
    let mut line = serde_json::to_string(report)?;
    line.push('\n');
    match reports.write_all(line.as_bytes()) {
        // The owner may be gone; the work that is left does not depend on it.
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
    owner_sign: OwnerSign,
    /// The processes of the tree that the owner wants to be stopped.
    paused: HashSet<ProcessName>,
    group: Group,
    child_changed: SignalStream,
    end_signals: [SignalStream; 3],
}

#[derive(Clone, Copy)]
enum State {
    /// The child works.
    Watching,
    /// The tree got SIGTERM and has until then.
    Terminating { until: Instant },
    /// The tree is being killed, and swept again then.
    Killing { again: Instant },
}

enum Wake {
    ChildChanged,
    Ordered(Order),
    OwnerGone,
    Signalled,
    Alarm,
}

impl Keeper {
    async fn watch(mut self) -> io::Result<()> {
        // Having no child left means that the whole tree is gone: a subreaper inherits all.
        while !self.reap()? {
            match self.next().await {
                Wake::ChildChanged => {}
                Wake::Ordered(order) => self.obey(order)?,
                Wake::OwnerGone => {
                    info!("owner is gone");
                    self.owner_is_there = false;
                    self.terminate(GRACE_WITHOUT_OWNER);
                }
                Wake::Signalled => {
                    info!("told to end by a signal");
                    report(&mut self.reports, &Report::Stopping)?;
                    self.terminate(GRACE_WITHOUT_OWNER);
                }
                Wake::Alarm => self.alarmed()?,
            }
        }
        if let Group::Made(group) = std::mem::replace(&mut self.group, Group::None) {
            group.remove();
        }
        let killed = self.killed;
        debug!(killed, "tree is gone");
        report(&mut self.reports, &Report::Gone { killed })
    }

    async fn next(&mut self) -> Wake {
        let alarm = match self.state {
            State::Watching => earliest(self.owner_sign.alarm(), self.group.alarm()),
            State::Terminating { until } => Some(until),
            State::Killing { again } => Some(again),
        };
        let [terminate, interrupt, hang_up] = &mut self.end_signals;
        tokio::select! {
            _ = self.child_changed.recv() => Wake::ChildChanged,
            order = self.orders.next_line(), if self.owner_is_there => ordered(order),
            _ = terminate.recv() => Wake::Signalled,
            _ = interrupt.recv() => Wake::Signalled,
            _ = hang_up.recv() => Wake::Signalled,
            () = sleep_until(alarm.unwrap_or_else(Instant::now)), if alarm.is_some() => Wake::Alarm,
        }
    }

    fn obey(&mut self, order: Order) -> io::Result<()> {
        debug!(?order, "owner ordered");
        match order {
            Order::Stop { grace } => self.terminate(grace),
            Order::Deadline { left } => self.owner_sign.note(Instant::now(), left),
            Order::Pause => {
                self.owner_sign.pause();
                self.paused.extend(stop_descendants(std::process::id()));
                report(&mut self.reports, &Report::Paused)?;
            }
            Order::Resume => self.resume(),
        }
        Ok(())
    }

    /// Continues the processes that were stopped for a pause, and none that somebody else had
    /// stopped.
    fn resume(&mut self) {
        for process in self.paused.drain() {
            process.signal(Signal::CONT);
        }
    }

    fn alarmed(&mut self) -> io::Result<()> {
        match self.state {
            State::Watching => {
                self.group.make_if_due(Instant::now());
                if self.owner_sign.is_overdue(Instant::now()) {
                    info!("deadline passed without a sign of the owner");
                    report(&mut self.reports, &Report::Overdue)?;
                    self.terminate(GRACE_WITHOUT_OWNER);
                }
            }
            State::Terminating { .. } | State::Killing { .. } => self.kill(),
        }
        Ok(())
    }

    /// Sends SIGTERM to the whole tree; a later order can only shorten the time it has. Stopped
    /// processes are continued, because the signal would not reach them otherwise.
    fn terminate(&mut self, grace: Duration) {
        let until = Instant::now() + grace;
        match self.state {
            State::Killing { .. } => return,
            State::Terminating { until: earlier } if earlier <= until => return,
            State::Watching | State::Terminating { .. } => {}
        }
        debug!(grace_s = grace.as_secs_f64(), "tree is told to end");
        self.state = State::Terminating { until };
        self.paused.clear();
        signal_descendants(std::process::id(), Signal::TERM);
        signal_descendants(std::process::id(), Signal::CONT);
    }

    fn kill(&mut self) {
        let again = Instant::now() + SWEEP_AGAIN;
        self.state = State::Killing { again };
        if let Group::Made(group) = &self.group {
            self.killed += descendants(std::process::id()).len();
            group.kill();
        }
        self.killed += signal_descendants(std::process::id(), Signal::KILL);
    }

    /// Reaps processes that have exited. Returns whether no process is left.
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
        debug!(
            code = status.exit_status(),
            signal = status.terminating_signal(),
            "child exited"
        );
        // Once the child itself has exited, the processes that it left behind are killed at once.
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

fn ordered(line: io::Result<Option<String>>) -> Wake {
    match line {
        Ok(Some(line)) => match serde_json::from_str(&line) {
            Ok(order) => Wake::Ordered(order),
            // Only our own binary writes here; if somebody else does, the tree is ended.
            Err(_) => Wake::Signalled,
        },
        Ok(None) | Err(_) => Wake::OwnerGone,
    }
}
