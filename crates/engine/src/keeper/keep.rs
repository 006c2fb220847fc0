//! The life of a keeper process.

use std::collections::HashSet;
use std::io::{self, Write as _};
use std::net::TcpListener as StdListener;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use pi_subagents_confine::{NotStarted, Seal};
use pi_subagents_os::{
    Adoption, Descriptors as _, Kin as _, ProcessName, Processes as _, Reaped, RunTree, Signal,
    System, is_for_want_of_room, leave_no_core, let_inherit, reap_any, silence_stderr,
    silence_stdout, truncate,
};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::{TcpListener, UnixStream};
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};
use tokio::time::{Instant, sleep_until};
use tracing::{debug, info};

use super::KEEPER_NAME;
use super::handover::{ChildCommand, Descriptors};
use super::owner_sign::OwnerSign;
use super::sandbox;
use super::wire::{Order, Report};
use crate::gateway::{Gateway, GatewayRules, Refusals};

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
    _ = System::show_name(KEEPER_NAME);
    let control = StdStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut reports = control.try_clone()?;
    let adoption = System::adopt_orphans()?;
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
        Err(NotStarted::NotConfined(reason)) => {
            release(lock)?;
            return report(&mut reports, &Report::NotConfined { reason });
        }
        Err(NotStarted::NotExecuted(error)) => {
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
    let StartedChild { pid, confined } = child;
    debug!(child = pid, "child started");
    report(&mut reports, &Report::Started { pid })?;
    control.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let kept = runtime.block_on(async {
        let confined = confined.map(Confined::serve).transpose()?;
        Keeper {
            confined,
            child: pid,
            orders: BufReader::new(UnixStream::from_std(control)?).lines(),
            owner_is_there: true,
            reports,
            state: State::Watching,
            killed: 0,
            owner_sign: OwnerSign::default(),
            paused: HashSet::new(),
            adoption,
            family: RunTree::begin(owner, run),
            child_changed: signal(SignalKind::child())?,
            end_signals: [
                signal(SignalKind::terminate())?,
                signal(SignalKind::interrupt())?,
                signal(SignalKind::hangup())?,
            ],
        }
        .watch()
        .await
    });
    // A name that is being looked up for the gateway must not keep us here.
    runtime.shutdown_background();
    kept?;
    release(lock)
}

/// Takes the run's name out of the lock and lets go of it: no process of the run is left.
fn release(lock: Option<OwnedFd>) -> io::Result<()> {
    if let Some(lock) = lock {
        truncate(lock)?;
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
) -> Result<StartedChild, NotStarted> {
    let (program, arguments) = child
        .words
        .split_first()
        .ok_or_else(|| NotStarted::NotExecuted(io::Error::other("there is no program to start")))?;
    // The owner has raised its own limit, and there are programs that cannot live with many
    // descriptors.
    if let Some(limit) = child.file_limit {
        System::lower_limit(limit);
    }
    // The child has keys in its memory.
    leave_no_core();
    let mut command = match &child.sandbox {
        None => {
            let mut command = Command::new(program);
            command.args(arguments).process_group(0);
            command
        }
        Some(kept) => {
            // It leaves our session, and so our group, by itself.
            let mut command = Command::new(&kept.program);
            command.args(&kept.arguments);
            command
        }
    };
    let mut numbers = Vec::new();
    for (variable, descriptor) in &inherited {
        if let Some(descriptor) = descriptor {
            // The child inherits it under its number and reads it to its end.
            let_inherit(descriptor).map_err(NotStarted::NotExecuted)?;
            numbers.push(descriptor.as_raw_fd());
            command.env(variable, descriptor.as_raw_fd().to_string());
        }
    }
    let started = match &child.sandbox {
        None => {
            command.stdin(Stdio::from(stdin));
            let process = pi_subagents_os::start(&mut command).map_err(NotStarted::NotExecuted)?;
            StartedChild {
                pid: process.id(),
                confined: None,
            }
        }
        Some(kept) => {
            let process = kept.start(&child.words, &stdin, numbers, command)?;
            StartedChild {
                pid: process.child.id(),
                confined: Some(Confined {
                    seal: process.seal,
                    gateway: process.gateway,
                    cwd: kept.cwd.clone(),
                    refusals: Refusals::default(),
                }),
            }
        }
    };
    drop(inherited);
    // From here on the child alone holds its stdout and stderr, so they close when it is gone.
    silence_stdout().map_err(NotStarted::NotExecuted)?;
    silence_stderr().map_err(NotStarted::NotExecuted)?;
    Ok(started)
}

/// A child that runs.
struct StartedChild {
    pid: u32,
    /// What is done for it if it is confined.
    confined: Option<Confined>,
}

/// What a keeper does for a confined child.
struct Confined {
    seal: Seal,
    gateway: Option<(StdListener, GatewayRules)>,
    cwd: PathBuf,
    refusals: Refusals,
}

impl Confined {
    /// Begins to serve its gateway, in an async runtime.
    fn serve(mut self) -> io::Result<Self> {
        if let Some((listener, rules)) = self.gateway.take() {
            listener.set_nonblocking(true)?;
            let gateway = Gateway {
                listener: TcpListener::from_std(listener)?,
                rules,
                refusals: self.refusals.clone(),
            };
            // It serves until this process ends, which is when the tree is gone.
            tokio::spawn(gateway.serve());
        }
        Ok(self)
    }

    /// Returns what a person should know when the child is gone.
    fn notes(&self) -> Vec<String> {
        let made = sandbox::made_meanwhile(&self.seal, &self.cwd);
        self.refusals.sentence().into_iter().chain(made).collect()
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
    confined: Option<Confined>,
    orders: Lines<BufReader<UnixStream>>,
    owner_is_there: bool,
    reports: StdStream,
    state: State,
    killed: usize,
    owner_sign: OwnerSign,
    /// The processes of the tree that the owner wants to be stopped.
    paused: HashSet<ProcessName>,
    /// The new parent of a process of the tree that has lost its own.
    adoption: Adoption,
    family: RunTree,
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
        while !self.is_tree_gone()? {
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
        self.family.end();
        let notes = self.confined.as_ref().map(Confined::notes);
        for text in notes.unwrap_or_default() {
            report(&mut self.reports, &Report::Noted { text })?;
        }
        let killed = self.killed;
        debug!(killed, "tree is gone");
        report(&mut self.reports, &Report::Gone { killed })
    }

    async fn next(&mut self) -> Wake {
        let alarm = match self.state {
            State::Watching => {
                let of_family = self.family.alarm().map(Instant::from_std);
                self.owner_sign.alarm().into_iter().chain(of_family).min()
            }
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
                self.paused.extend(self.family.stop());
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
                self.family.tend(Instant::now().into_std());
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
        self.family.signal(Signal::TERM);
        self.family.signal(Signal::CONT);
    }

    fn kill(&mut self) {
        let again = Instant::now() + SWEEP_AGAIN;
        self.state = State::Killing { again };
        self.killed += self.family.kill();
    }

    /// Reaps processes that have exited. Returns whether no process of the tree is left.
    fn is_tree_gone(&mut self) -> io::Result<bool> {
        loop {
            match reap_any()? {
                Reaped::Child { pid, code, signal } if pid == self.child => {
                    self.child_exited(code, signal)?;
                }
                Reaped::Child { .. } => {}
                Reaped::NobodyNow => return Ok(false),
                Reaped::NoChild => {
                    let family = &mut self.family;
                    return Ok(is_gone_without_children(self.adoption, || family.look()));
                }
            }
        }
    }

    fn child_exited(&mut self, code: Option<i32>, signal: Option<i32>) -> io::Result<()> {
        debug!(code, signal, "child exited");
        // Once the child itself has exited, the processes that it left behind are killed at once.
        self.state = State::Killing {
            again: Instant::now(),
        };
        report(&mut self.reports, &Report::Exited { code, signal })
    }
}

/// Returns whether the tree of a keeper that has no child is gone. If the keeper adopts orphans, it
/// is, because every process of the tree would be below a child. If nobody does, the processes that
/// were seen in the tree are looked at, and the keeper looks again as often as it kills.
fn is_gone_without_children(adoption: Adoption, look: impl FnOnce() -> Vec<ProcessName>) -> bool {
    match adoption {
        Adoption::Ours => true,
        Adoption::Nobody => look().is_empty(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_adoption_a_keeper_without_children_looks_for_orphans() {
        let orphan = || vec![ProcessName::of_this_process()];
        let seen = [
            is_gone_without_children(Adoption::Ours, orphan),
            is_gone_without_children(Adoption::Nobody, orphan),
            is_gone_without_children(Adoption::Nobody, Vec::new),
        ];
        assert_eq!(seen, [true, false, true]);
    }
}
