//! Building a command that runs in a sandbox.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::directory::Sandbox;
use super::normalise::Normaliser;
use super::output::CommandOutput;
use super::running_command::RunningCommand;

/// A command with the environment of its sandbox and nothing of the test's own.
#[derive(Debug)]
#[must_use = "a command does nothing until it is run or spawned"]
pub struct SandboxCommand {
    bin: PathBuf,
    args: Vec<OsString>,
    variables: BTreeMap<OsString, OsString>,
    cwd: PathBuf,
    stdin: Option<Vec<u8>>,
    patience: Duration,
    normaliser: Normaliser,
}

impl SandboxCommand {
    pub(super) fn new(bin: &Path, sandbox: &Sandbox, normaliser: Normaliser) -> Self {
        let variables = [
            ("PATH", search_path()),
            ("HOME", sandbox.home().into()),
            ("PI_CODING_AGENT_DIR", sandbox.agent_dir().into()),
            ("XDG_RUNTIME_DIR", sandbox.runtime_dir().into()),
            ("TERM", "dumb".into()),
        ];
        Self {
            bin: bin.to_owned(),
            args: Vec::new(),
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
            cwd: sandbox.project(),
            stdin: None,
            patience: Duration::from_mins(2),
            normaliser,
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables
            .insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Takes an environment variable away.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.variables.remove(name.as_ref());
        self
    }

    /// Sets the working directory; a relative path is below the project.
    pub fn cwd(mut self, cwd: impl AsRef<Path>) -> Self {
        self.cwd = self.cwd.join(cwd);
        self
    }

    /// Sets the text that the command reads from stdin, which is then closed.
    pub fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(text.into());
        self
    }

    /// Sets how long to wait for the end before the test fails; two minutes if not set.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Runs the command to its end. Without [`Self::stdin`], stdin is empty.
    #[must_use = "look at the output, or call `expect_success`"]
    #[track_caller]
    pub fn run(mut self) -> CommandOutput {
        self.stdin.get_or_insert_default();
        self.spawn().wait()
    }

    /// Starts the command. Without [`Self::stdin`], stdin stays open for the test to write.
    #[track_caller]
    pub fn spawn(self) -> RunningCommand {
        let child = self
            .std_command()
            .spawn()
            .unwrap_or_else(|error| panic!("{} could not be started: {error}", self.bin.display()));
        RunningCommand::new(child, self.stdin, self.patience, self.normaliser)
    }

    /// Returns the command for a test that needs other streams, such as a terminal.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where tests start processes"
    )]
    pub fn std_command(&self) -> Command {
        let mut command = Command::new(&self.bin);
        command
            .args(&self.args)
            .env_clear()
            .envs(&self.variables)
            .current_dir(&self.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the only variable a sandbox takes over from the test"
)]
fn search_path() -> OsString {
    env::var_os("PATH").unwrap_or_default()
}
