//! Starts a child. The only place that does, through the keeper that will end its whole tree.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use pi_subagents_os::{Descriptors as _, ProcessName, System, is_for_want_of_room};
use pi_subagents_vocabulary::{
    BudgetScope, Ending, NetworkReach, RunId, Secret, SessionPolicy, Started, Task, TaskPlan,
};
use tokio::process::Command;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tracing::debug;

use super::session_lock::{LockError, SessionLock};
use super::{Inbox, LineMemory, LineReader, Outbox, StderrLines, command_line};
use crate::keeper::{
    ChildCommand, Handed, KEEPER_NAME, KeeperLink, KeptSandbox, Report, hand_over,
};
use crate::launcher::Launcher;
use crate::marks::{BUDGETS, OWNER_MARK, RUN_MARK};
use crate::sweep::end_inherited;

/// The time that a keeper may take to start its child; a machine may be very busy.
const TO_START: Duration = Duration::from_mins(1);

/// The pause between two looks whether a silent keeper was stopped.
const LOOK_AT_KEEPER: Duration = Duration::from_secs(1);

/// A child that runs, with everything that connects us to it.
#[derive(Debug)]
pub(crate) struct LaunchedChild {
    pub(crate) started: Started,
    pub(crate) stdin: Outbox,
    pub(crate) stdout: Inbox<LineReader>,
    pub(crate) stderr: Inbox<StderrLines>,
    pub(crate) keeper: KeeperLink,
}

/// The reason why a child could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    #[error("the directory {0} does not exist or is not a directory")]
    NoDirectory(String),
    #[error("the session is in use")]
    SessionInUse {
        file: PathBuf,
        holder: Option<RunId>,
    },
    #[error("the session could not be locked with {lock}")]
    Lock { lock: String, source: io::Error },
    #[error("the supervisor {program} could not be started")]
    Keeper { program: String, source: io::Error },
    #[error("no pipe to the child")]
    Pipe(#[from] io::Error),
    #[error(
        "the key, or the variables that hold secrets, take {bytes} bytes, which do not fit into a pipe; unset those that no model needs"
    )]
    Secrets { bytes: usize },
    #[error("{0}")]
    Child(String),
    #[error("{0}")]
    NotConfined(String),
    #[error(
        "{0}; the limits of open files or processes are reached (ulimit -n, ulimit -u say them)"
    )]
    NoRoom(String),
    #[error("the supervisor ended before it had started the sub-agent")]
    KeeperGone,
    #[error("the supervisor did not start the sub-agent within {} s", TO_START.as_secs())]
    KeeperSilent,
}

impl LaunchError {
    /// Returns whether another try may succeed once there is more room.
    pub(crate) fn is_for_want_of_room(&self) -> bool {
        match self {
            Self::NoRoom(_) => true,
            Self::Keeper { source, .. } | Self::Lock { source, .. } | Self::Pipe(source) => {
                is_for_want_of_room(source)
            }
            _ => false,
        }
    }

    /// Adds which limits were reached, for a run that does not wait for room any longer.
    pub(crate) fn explained(self) -> Self {
        match self {
            Self::NoRoom(_) => self,
            other if other.is_for_want_of_room() => Self::NoRoom(other.with_causes()),
            other => other,
        }
    }

    /// Returns how a run ends whose child was not started.
    pub(crate) fn ending(self, task: &Task) -> Ending {
        match self {
            Self::SessionInUse { file, holder } => Ending::SessionInUse {
                session: task.session.to_string(),
                file,
                holder: holder.map(|run| run.to_string()),
            },
            Self::NotConfined(reason) => Ending::NotConfined { reason },
            other => Ending::CouldNotStart {
                reason: other.with_causes(),
            },
        }
    }

    /// Joins the texts of the error and its causes in one line.
    pub(crate) fn with_causes(&self) -> String {
        let mut words = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            words.push_str(": ");
            words.push_str(&error.to_string());
            cause = error.source();
        }
        words
    }
}

/// Starts the child of this task and waits until its keeper reports that it runs.
pub(crate) async fn launch(
    launcher: &Launcher,
    task: &Task,
    plan: &TaskPlan,
    memory: LineMemory,
    lock: Option<&SessionLock>,
) -> Result<LaunchedChild, LaunchError> {
    if !task.cwd.is_dir() {
        return Err(LaunchError::NoDirectory(task.cwd.display().to_string()));
    }
    lock.map_or(Ok(()), SessionLock::enter_name)?;
    let (child_stdin, stdin) = System::pipe()?;
    let (stdout, child_stdout) = System::pipe()?;
    let (stderr, child_stderr) = System::pipe()?;
    let (ours, keepers) = System::socket_pair()?;
    let child_ends = [keepers.into(), child_stdout, child_stderr];
    let keeper = KeeperEnvironment {
        secrets: Secrets::of(plan),
        of_servers: &plan.here.server_variables,
        budgets: &plan.here.budgets.scopes,
    };
    let (name, reaped) = start_keeper(launcher, task, &keeper, child_ends)?;
    let key = plan.here.api_key.as_ref().map(Secret::expose);
    let key = key.map(secret_pipe).transpose()?;
    let secrets = secrets_for(launcher, plan).map(|secrets| secret_pipe(&secrets));
    let secrets = secrets.transpose()?;
    hand_over(
        &ours,
        child_stdin.as_fd(),
        [
            (Handed::Key, key.as_ref().map(OwnedFd::as_fd)),
            (Handed::Lock, lock.map(SessionLock::as_fd)),
            (Handed::Secrets, secrets.as_ref().map(OwnedFd::as_fd)),
        ],
    )?;
    drop((child_stdin, key, secrets));

    let reader =
        LineReader::new(memory, task.directory.clone()).with_long_line_room(task.record_limit);
    let stdin = Outbox::new(stdin)?;
    let stdout = Inbox::new(stdout, reader)?;
    let stderr = Inbox::new(stderr, StderrLines::default())?;
    let mut keeper = KeeperLink::new(name, reaped, ours)?;
    let command = child_command(launcher, task, plan)?;
    let child = begin(launcher, task, &mut keeper, &command).await?;
    Ok(LaunchedChild {
        started: Started {
            runner: plan.here.runner,
            child,
            keeper: keeper.process().pid,
        },
        stdin,
        stdout,
        stderr,
        keeper,
    })
}

fn child_command(
    launcher: &Launcher,
    task: &Task,
    plan: &TaskPlan,
) -> Result<ChildCommand, LaunchError> {
    let program = plan.here.program.path.clone().into_os_string();
    let arguments = command_line::arguments(plan);
    Ok(ChildCommand {
        file_limit: launcher.file_limit,
        sandbox: kept_sandbox(launcher, task, plan)?,
        words: [program].into_iter().chain(arguments).collect(),
    })
}

/// Returns the sandbox in which everything of a task runs, or `None` if it has none. A sandbox
/// without places of this machine is an error: nothing runs open by accident.
fn kept_sandbox(
    launcher: &Launcher,
    task: &Task,
    plan: &TaskPlan,
) -> Result<Option<KeptSandbox>, LaunchError> {
    let sandbox = &plan.work.sandbox;
    if sandbox.is_off() {
        return Ok(None);
    }
    let confinement = match plan.here.confinement.clone() {
        Some(Ok(confinement)) => confinement,
        Some(Err(refusal)) => return Err(LaunchError::NotConfined(refusal.message)),
        None => {
            let reason = format!("The sandbox ({sandbox}) was not planned. Nothing was run.");
            return Err(LaunchError::NotConfined(reason));
        }
    };
    let arguments = launcher.confine.arguments.iter();
    Ok(Some(KeptSandbox {
        program: launcher.confine.path.clone(),
        arguments: arguments
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        sandbox: sandbox.clone(),
        confinement,
        cwd: task.cwd.clone(),
        has_gateway: true,
    }))
}

/// Lets a keeper start its child. Returns the number of the child's process.
async fn begin(
    launcher: &Launcher,
    task: &Task,
    keeper: &mut KeeperLink,
    command: &ChildCommand,
) -> Result<u32, LaunchError> {
    match first_report(keeper, command).await {
        Ok(Some(Report::Started { pid })) => Ok(pid),
        Ok(Some(Report::CouldNotStart {
            reason,
            for_want_of_room: true,
        })) => Err(LaunchError::NoRoom(reason)),
        Ok(Some(Report::CouldNotStart { reason, .. })) => Err(LaunchError::Child(reason)),
        Ok(Some(Report::NotConfined { reason })) => Err(LaunchError::NotConfined(reason)),
        outcome => {
            // The keeper may have been killed after it had started the child and before it could
            // report that.
            end_inherited(launcher, &task.run).await;
            Err(outcome.err().unwrap_or(LaunchError::KeeperGone))
        }
    }
}

/// Sends the keeper the command of the child, and waits until it reports whether that runs. A
/// keeper that somebody stopped is continued.
async fn first_report(
    keeper: &mut KeeperLink,
    command: &ChildCommand,
) -> Result<Option<Report>, LaunchError> {
    let process = keeper.process();
    let silent_since = Instant::now();
    let report = keeper.begin(command);
    tokio::pin!(report);
    loop {
        if let Ok(report) = timeout(LOOK_AT_KEEPER, &mut report).await {
            return Ok(report);
        }
        if silent_since.elapsed() >= TO_START {
            process.kill();
            return Err(LaunchError::KeeperSilent);
        }
        process.rouse();
    }
}

/// Takes the lock of a session that several runs continue.
pub(crate) async fn lock_session(
    task: &Task,
    plan: &TaskPlan,
) -> Result<Option<SessionLock>, LaunchError> {
    let SessionPolicy::Shared { file, lock } = plan.here.session.clone() else {
        return Ok(None);
    };
    let run = task.run.clone();
    let path = lock.clone();
    let taken = tokio::task::spawn_blocking(move || SessionLock::take(&path, &run)).await;
    match taken {
        Ok(Ok(taken)) => Ok(Some(taken)),
        Ok(Err(LockError::InUse { holder })) => Err(LaunchError::SessionInUse { file, holder }),
        Ok(Err(LockError::Io(source))) => Err(LaunchError::Lock {
            lock: lock.display().to_string(),
            source,
        }),
        Err(error) => Err(LaunchError::Lock {
            lock: lock.display().to_string(),
            source: error.into(),
        }),
    }
}

/// A command that is run for a run, in its sandbox.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CommandOfRun<'a> {
    /// It proves that the child has done its work, and runs code that the child wrote.
    Gate(&'a str),
    /// It prepares the worktree before the first child.
    Setup(&'a str),
}

/// A command of a gate that runs.
#[derive(Debug)]
pub(crate) struct LaunchedCommand {
    /// Its stdout and stderr.
    pub(crate) output: OwnedFd,
    pub(crate) keeper: KeeperLink,
}

/// Starts a command with `sh -c` in the directory of the run, under a keeper of its own. It gets no
/// input and no keys.
pub(crate) async fn launch_command(
    launcher: &Launcher,
    task: &Task,
    plan: &TaskPlan,
    command: CommandOfRun<'_>,
) -> Result<LaunchedCommand, LaunchError> {
    let mut sandbox = kept_sandbox(launcher, task, plan)?;
    if let Some(kept) = &mut sandbox {
        // The agent itself always reaches its model; commands do what tools may do.
        kept.has_gateway = kept.sandbox.network.tools_may_use_gateway();
    }
    let text = match command {
        CommandOfRun::Gate(text) => text,
        CommandOfRun::Setup(text) => {
            // It may fetch what the child will need.
            if let Some(kept) = &mut sandbox {
                kept.sandbox.network = NetworkReach::Full;
            }
            text
        }
    };
    let (stdin, _closed) = System::pipe()?;
    let (output, child_stdout) = System::pipe()?;
    let child_stderr = child_stdout.try_clone()?;
    let (ours, keepers) = System::socket_pair()?;
    let child_ends = [keepers.into(), child_stdout, child_stderr];
    let keeper = KeeperEnvironment {
        secrets: Secrets::LeftOut,
        of_servers: &plan.here.server_variables,
        budgets: &plan.here.budgets.scopes,
    };
    let (name, reaped) = start_keeper(launcher, task, &keeper, child_ends)?;
    let nothing = [Handed::Key, Handed::Lock, Handed::Secrets].map(|handed| (handed, None));
    hand_over(&ours, stdin.as_fd(), nothing)?;
    drop(stdin);
    let mut keeper = KeeperLink::new(name, reaped, ours)?;
    let words = ["/bin/sh", "-c", text].map(OsString::from);
    let command = ChildCommand {
        file_limit: launcher.file_limit,
        sandbox,
        words: words.into(),
    };
    begin(launcher, task, &mut keeper, &command).await?;
    Ok(LaunchedCommand { output, keeper })
}

/// The treatment of the variables that hold secrets in the environment of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Secrets {
    Inherited,
    LeftOut,
}

impl Secrets {
    fn of(plan: &TaskPlan) -> Self {
        if plan.here.runner.takes_secrets_apart() || has_one_key(plan) {
            Self::LeftOut
        } else {
            Self::Inherited
        }
    }
}

/// The variables of a keeper, and so of its child, in which children differ.
struct KeeperEnvironment<'a> {
    secrets: Secrets,
    /// The variables of MCP servers, which the child hands to nobody else.
    of_servers: &'a BTreeMap<String, Secret>,
    /// The budgets in which everything counts that the child starts.
    budgets: &'a [BudgetScope],
}

impl KeeperEnvironment<'_> {
    /// Returns the variable that names the budgets of a run, if it has any.
    fn budgets_of(&self, run: &RunId) -> Option<String> {
        let names: Vec<_> = self.budgets.iter().map(BudgetScope::as_str).collect();
        (!names.is_empty()).then(|| format!("{run}:{}", names.join(",")))
    }
}

/// Starts a keeper. Its stdin is the control socket; its stdout and stderr are the child's. Returns
/// its name, and a task that ends when the keeper has ended.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place where children start"
)]
fn start_keeper(
    launcher: &Launcher,
    task: &Task,
    environment: &KeeperEnvironment<'_>,
    [control, stdout, stderr]: [OwnedFd; 3],
) -> Result<(ProcessName, JoinHandle<()>), LaunchError> {
    let keeper = &launcher.keeper;
    let mut command = Command::new(&keeper.path);
    // A process group of its own, so that Ctrl-C reaches the owner and nobody else.
    command
        .arg0(KEEPER_NAME)
        .args(&keeper.arguments)
        .arg(task.run.as_str())
        .current_dir(&task.cwd)
        .envs(
            launcher
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .env("PI_SUBAGENTS_CHILD", "1")
        .env("PI_SUBAGENT_CHILD", "1")
        .env("PI_SKIP_VERSION_CHECK", "1")
        .env(RUN_MARK, task.run.as_str())
        .env(OWNER_MARK, ProcessName::of_this_process().mark())
        .process_group(0)
        .stdin(Stdio::from(control))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr));
    command.envs(
        environment
            .budgets_of(&task.run)
            .map(|names| (BUDGETS, names)),
    );
    if environment.secrets == Secrets::LeftOut {
        for name in launcher.secrets.keys() {
            command.env_remove(name);
        }
    }
    for name in environment.of_servers.keys() {
        command.env_remove(name);
    }
    let started = launcher.known_children.start(&mut command);
    let mut process = started.map_err(|source| LaunchError::Keeper {
        program: keeper.path.display().to_string(),
        source,
    })?;
    let pid = process.id().ok_or(LaunchError::KeeperGone)?;
    debug!(run = %task.run, keeper = pid, "keeper started");
    let known_children = launcher.known_children.clone();
    let reaped = tokio::spawn(async move {
        // The exit status of the keeper itself says nothing about the run.
        _ = process.wait().await;
        known_children.ended(pid);
    });
    Ok((ProcessName::of(pid), reaped))
}

/// Makes a descriptor from which a secret can be read once. It is written before anybody reads, so
/// it has to fit.
fn secret_pipe(secret: &str) -> Result<OwnedFd, LaunchError> {
    let bytes = secret.len();
    System::filled_pipe(secret.as_bytes())?.ok_or(LaunchError::Secrets { bytes })
}

/// Returns whether a child gets the key of its model and no other secret: in a sandbox its key was
/// found for it.
fn has_one_key(plan: &TaskPlan) -> bool {
    !plan.work.sandbox.is_off() && plan.here.api_key.is_some()
}

/// Writes down the variables that a child gets on a descriptor, if it looks for them there.
fn secrets_for(launcher: &Launcher, plan: &TaskPlan) -> Option<String> {
    if !plan.here.runner.takes_secrets_apart() {
        return None;
    }
    let of_user = (!has_one_key(plan)).then_some(&launcher.secrets);
    let secrets = of_user
        .into_iter()
        .flatten()
        .chain(&plan.here.server_variables);
    let variables = secrets.map(|(name, value)| (name.clone(), value.expose().into()));
    let variables: serde_json::Map<_, _> = variables.collect();
    (!variables.is_empty()).then(|| serde_json::Value::Object(variables).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_of_an_error_is_its_source_and_is_worded_once() {
        let error = LaunchError::Keeper {
            program: "pi-subagents".to_owned(),
            source: io::ErrorKind::NotFound.into(),
        };
        assert!(error.source().is_some());
        assert_eq!(
            error.to_string(),
            "the supervisor pi-subagents could not be started"
        );
        assert_eq!(
            error.with_causes(),
            "the supervisor pi-subagents could not be started: entity not found"
        );
    }
}
