//! `bash`: a shell command in a process group of its own.
//!
//! The command sees no input and no key. When the call ends, for whatever reason, everything it
//! started ends too (see [`crate::processes`]).

use std::future::pending;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use pi_subagents_confine::{INNER_VARIABLE, InnerPolicy};
use pi_subagents_os::{Descriptors as _, System};
use pi_subagents_vocabulary::{REFUSAL_WORDS, refusal_hint};
use serde::Deserialize;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::time::{Instant, sleep_until};

use super::bash_output::{BashOutput, Shown};
use super::{ToolError, ToolOutput, ToolResult, ToolSurroundings, Updates};
use crate::abort::Aborted;
use crate::inner_process::inner_process;
use crate::orphans::{self, Awaited};
use crate::processes;

/// The shortest time between two updates.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);
/// The time for which we wait for the end of the output once everything has been killed.
const DRAIN_TIME: Duration = Duration::from_secs(1);
/// Names the call in the environment of everything it starts.
const MARK: &str = "PI_SUBAGENTS_SHELL";
const MAX_TIMEOUT_SECONDS: f64 = 2_147_483.647;

#[derive(Deserialize)]
pub(super) struct Arguments {
    command: String,
    timeout: Option<f64>,
}

pub(super) async fn run(
    arguments: Arguments,
    surroundings: &ToolSurroundings,
    aborted: &Aborted,
    updates: &Updates,
) -> ToolResult {
    let timeout = arguments.timeout.map(duration).transpose()?;
    if let Some(commands) = &surroundings.commands {
        let checked = commands.check(&arguments.command);
        checked.map_err(|refusal| ToolError::new(refusal.to_string()))?;
    }
    let mut shell = Shell::start(&arguments.command, surroundings)?;
    updates.send(ToolOutput {
        content: Vec::new(),
        details: None,
        terminate: false,
    });
    let end = shell.follow(timeout, aborted, updates).await;
    let shown = shell.output.shown();
    match end {
        End::Exited(status) => answer(&shown, status, surroundings),
        End::Aborted => Err(with_status(&shown.text(), "Command aborted")),
        End::TimedOut => Err(with_status(
            &shown.text(),
            &format!(
                "Command timed out after {} seconds",
                arguments.timeout.unwrap_or_default()
            ),
        )),
    }
}

fn duration(seconds: f64) -> Result<Duration, ToolError> {
    if seconds > MAX_TIMEOUT_SECONDS {
        return Err(ToolError::new(format!(
            "Invalid timeout: maximum is {MAX_TIMEOUT_SECONDS} seconds"
        )));
    }
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| ToolError::new("Invalid timeout: must be a finite number of seconds"))
}

fn answer(shown: &Shown, status: ExitStatus, surroundings: &ToolSurroundings) -> ToolResult {
    let mut text = shown.text();
    if text.is_empty() {
        text.push_str("(no output)");
    }
    // A shell killed by a signal counts as 128 + n, as shells themselves report it.
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    match code {
        Some(0) => Ok(ToolOutput {
            details: shown.details(),
            ..ToolOutput::text(text)
        }),
        Some(code) => {
            let hint = sandbox_hint(&text, surroundings);
            let hint = hint.map(|hint| format!("\n{hint}")).unwrap_or_default();
            let status = format!("Command exited with code {code}{hint}");
            Err(with_status(&text, &status))
        }
        None => Err(with_status(
            &text,
            "Command terminated without an exit code",
        )),
    }
}

fn with_status(text: &str, status: &str) -> ToolError {
    let gap = if text.is_empty() { "" } else { "\n\n" };
    ToolError::new(format!("{text}{gap}{status}"))
}

/// The end of a command.
enum End {
    Exited(ExitStatus),
    Aborted,
    TimedOut,
}

/// The next thing that happens to a running command.
enum Wake {
    Printed(usize),
    Closed,
    Exited(ExitStatus),
    Aborted,
    TimedOut,
    UpdateDue,
    DrainedLongEnough,
}

struct Shell {
    child: Child,
    /// Keeps the status of the shell for the code that waits for it here.
    _awaited: Awaited,
    pid: u32,
    tree: processes::ShellTree,
    pipe: pipe::Receiver,
    output: BashOutput,
}

impl Shell {
    fn start(command: &str, surroundings: &ToolSurroundings) -> Result<Self, ToolError> {
        let cwd = &surroundings.cwd;
        if !cwd.is_dir() {
            return Err(ToolError::new(format!(
                "Working directory does not exist: {}\nCannot execute bash commands.",
                cwd.display()
            )));
        }
        let tag = uuid::Uuid::now_v7().simple().to_string();
        let tree = processes::ShellTree::enter(format!("{MARK}={tag}"));
        let (child, awaited, pipe) = spawn(command, surroundings, &tag)
            .map_err(|error| ToolError::new(format!("Failed to start bash: {error}")))?;
        Ok(Self {
            pid: child.id().unwrap_or_default(),
            child,
            _awaited: awaited,
            tree,
            pipe,
            output: BashOutput::new(&place_for_output(surroundings)),
        })
    }

    /// Reads the output of the command until it and everything it started are gone.
    async fn follow(
        &mut self,
        timeout: Option<Duration>,
        aborted: &Aborted,
        updates: &Updates,
    ) -> End {
        let timeout = timeout.map(|timeout| Instant::now() + timeout);
        let mut chunk = vec![0; 64 * 1024];
        let mut end = None;
        let mut drained_by = None;
        let mut rhythm = Rhythm::default();
        loop {
            let is_over = end.is_some();
            let wake = tokio::select! {
                read = self.pipe.read(&mut chunk) => match read {
                    Ok(0) | Err(_) => Wake::Closed,
                    Ok(length) => Wake::Printed(length),
                },
                status = self.child.wait(), if !is_over => match status {
                    Ok(status) => Wake::Exited(status),
                    Err(_) => Wake::Aborted,
                },
                () = aborted.raised(), if !is_over => Wake::Aborted,
                () = at(timeout), if !is_over => Wake::TimedOut,
                () = at(rhythm.due()) => Wake::UpdateDue,
                () = at(drained_by) => Wake::DrainedLongEnough,
            };
            match wake {
                Wake::Printed(length) => {
                    self.output.add(&chunk[..length]);
                    rhythm.has_news = true;
                }
                Wake::UpdateDue => self.update(&mut rhythm, updates),
                Wake::Exited(status) => end = Some(End::Exited(status)),
                Wake::Aborted => end = Some(End::Aborted),
                Wake::TimedOut => end = Some(End::TimedOut),
                Wake::Closed | Wake::DrainedLongEnough => break,
            }
            if !is_over && end.is_some() {
                self.end_tree();
                drained_by = Some(Instant::now() + DRAIN_TIME);
            }
        }
        let end = match end {
            Some(end) => end,
            None => self.wait_for_exit(timeout, aborted).await,
        };
        // A shell that was killed is awaited, so that its id cannot be taken for another's.
        let _ = self.child.wait().await;
        if rhythm.has_news {
            self.update(&mut rhythm, updates);
        }
        end
    }

    /// Waits for a command that closed its output and lives on.
    async fn wait_for_exit(&mut self, timeout: Option<Instant>, aborted: &Aborted) -> End {
        let end = tokio::select! {
            status = self.child.wait() => status.map_or(End::Aborted, End::Exited),
            () = aborted.raised() => End::Aborted,
            () = at(timeout) => End::TimedOut,
        };
        self.end_tree();
        end
    }

    fn end_tree(&mut self) {
        let _ = self.child.start_kill();
        self.tree.end_tree(self.pid);
    }

    fn update(&self, rhythm: &mut Rhythm, updates: &Updates) {
        rhythm.beat();
        let shown = self.output.shown();
        updates.send(ToolOutput {
            details: shown.details(),
            ..ToolOutput::text(shown.tail())
        });
    }
}

/// Returns the directory for long output: the run directory if there is one, else the directory of
/// temporary files.
pub(super) fn place_for_output(surroundings: &ToolSurroundings) -> PathBuf {
    if let Some(run) = &surroundings.run_directory {
        return run.clone();
    }
    let temporary = surroundings.variables.get("TMPDIR");
    PathBuf::from(temporary.map_or("/tmp", String::as_str))
}

/// Decides when the next update may be sent.
#[derive(Default)]
struct Rhythm {
    has_news: bool,
    last: Option<Instant>,
}

impl Rhythm {
    fn due(&self) -> Option<Instant> {
        let next = self
            .last
            .map_or_else(Instant::now, |last| last + UPDATE_INTERVAL);
        self.has_news.then_some(next)
    }

    fn beat(&mut self) {
        self.has_news = false;
        self.last = Some(Instant::now());
    }
}

async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => pending().await,
    }
}

/// Starts the shell with one pipe for both outputs, so that their order is kept.
fn spawn(
    command: &str,
    surroundings: &ToolSurroundings,
    tag: &str,
) -> io::Result<(Child, Awaited, pipe::Receiver)> {
    let (reader, writer) = System::pipe()?;
    let shell = if Path::new("/bin/bash").exists() {
        "/bin/bash"
    } else {
        "sh"
    };
    let mut process = inner_process(shell, &surroundings.variables)?;
    process
        .args(["-c", command])
        .current_dir(&surroundings.cwd)
        .env_clear()
        .envs(&surroundings.variables)
        .envs(session_variables(surroundings))
        .env(MARK, tag)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .kill_on_drop(true);
    let (child, awaited) = orphans::start(&mut process)?;
    let pipe = pipe::Receiver::from_owned_fd(reader)?;
    Ok((child, awaited, pipe))
}

/// Returns the sentence for a command that failed because of the sandbox, as far as its output shows
/// that.
fn sandbox_hint(output: &str, surroundings: &ToolSurroundings) -> Option<String> {
    let policy = surroundings.variables.get(INNER_VARIABLE)?;
    let policy: InnerPolicy = serde_json::from_str(policy).ok()?;
    let is_refused = REFUSAL_WORDS.iter().any(|words| output.contains(words));
    is_refused.then(|| refusal_hint(&policy.shown))
}

fn session_variables(surroundings: &ToolSurroundings) -> Vec<(&'static str, String)> {
    let model = &surroundings.model;
    let mut variables = vec![
        ("PI_SESSION_ID", surroundings.session_id.clone()),
        ("PI_PROVIDER", model.provider.clone()),
        ("PI_MODEL", model.id.clone()),
        ("PI_REASONING_LEVEL", model.thinking.clone()),
    ];
    if let Some(file) = &surroundings.session_file {
        variables.push(("PI_SESSION_FILE", file.display().to_string()));
    }
    variables
}
