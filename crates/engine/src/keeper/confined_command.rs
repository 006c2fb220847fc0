//! A command in a sandbox that is no part of a run, such as the gate of a review. A process of ours
//! starts it, serves its gateway, waits for its end, and ends as it did.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::net::TcpListener as StdListener;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use pi_subagents_confine::NotStarted;
use pi_subagents_os::{Descriptors as _, System, leave_no_core};
use pi_subagents_vocabulary::{Confinement, Sandbox};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use super::sandbox::{KeptSandbox, SealedChild, made_meanwhile};
use crate::gateway::{Gateway, GatewayRules, Refusals};

/// A longer order nobody writes.
const LONGEST_ORDER: u64 = 64 << 20;

/// A command, and the sandbox in which it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfinedCommand {
    /// Our own binary.
    pub program: PathBuf,
    /// The name of its hidden command that confines.
    pub name: String,
    /// The policy.
    pub sandbox: Sandbox,
    /// The policy as paths and hosts of this machine.
    pub confinement: Confinement,
    /// The directory in which the command works.
    pub cwd: PathBuf,
    /// The program and its arguments.
    pub words: Vec<String>,
}

impl ConfinedCommand {
    /// Writes it down for the stdin of the process that runs it.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }

    /// Runs the command that stdin describes, and returns its exit code. Both of its outputs are the
    /// stdout of this process. If this process writes to its own stderr, the command has proved
    /// nothing: it did not run, or nobody saw its end.
    pub fn run_from_stdin() -> ExitCode {
        match read().and_then(Self::run) {
            Ok(code) => ExitCode::from(code),
            Err(reason) => {
                // The exit code is left if nobody reads it.
                _ = writeln!(io::stderr(), "{reason}");
                ExitCode::FAILURE
            }
        }
    }

    fn run(self) -> Result<u8, String> {
        leave_no_core();
        let has_gateway = self.sandbox.network.tools_may_use_gateway();
        let kept = KeptSandbox {
            program: self.program,
            arguments: vec![self.name],
            sandbox: self.sandbox,
            confinement: self.confinement,
            cwd: self.cwd,
            has_gateway,
        };
        let words: Vec<OsString> = self.words.into_iter().map(OsString::from).collect();
        let started = start(&kept, &words).map_err(|why| match why {
            NotStarted::NotConfined(reason) => reason,
            NotStarted::NotExecuted(error) => format!("It could not be started: {error}."),
        })?;
        let refusals = Refusals::default();
        let seal = started.seal.clone();
        let status = wait(started, &refusals);
        let status = status.map_err(|error| format!("Nobody saw how it ended: {error}."))?;
        // A file that leads git elsewhere is taken away; new names stay where the command made them.
        _ = made_meanwhile(&seal, &kept.cwd);
        if let Some(sentence) = refusals.sentence() {
            // A caller that does not read the output still gets the exit code.
            _ = writeln!(io::stdout(), "{sentence}");
        }
        exit_code(status)
    }
}

fn read() -> Result<ConfinedCommand, String> {
    let mut bytes = Vec::new();
    let read = io::stdin().take(LONGEST_ORDER).read_to_end(&mut bytes);
    read.map_err(|error| format!("The command was not received: {error}."))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| format!("The command was not received: {error}."))
}

#[expect(
    clippy::disallowed_methods,
    reason = "it starts the process that confines itself, as a keeper does"
)]
fn start(kept: &KeptSandbox, words: &[OsString]) -> Result<SealedChild, NotStarted> {
    let output = || io::stdout().as_fd().try_clone_to_owned();
    let pipes = System::pipe().and_then(|pipe| Ok((pipe, output()?, output()?)));
    let ((stdin, _closed), stdout, stderr) = pipes.map_err(NotStarted::NotExecuted)?;
    let mut command = Command::new(&kept.program);
    command
        .args(&kept.arguments)
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr));
    kept.start(words, &stdin, Vec::new(), command)
}

/// Serves the gateway of a command until the command has ended.
fn wait(started: SealedChild, refusals: &Refusals) -> io::Result<ExitStatus> {
    let SealedChild {
        mut child, gateway, ..
    } = started;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let status = runtime.block_on(async {
        if let Some((listener, rules)) = gateway {
            tokio::spawn(gateway_of(listener, rules, refusals)?.serve());
        }
        let ended = tokio::task::spawn_blocking(move || child.wait()).await;
        ended.map_err(io::Error::other)?
    });
    // A name that is being looked up for the gateway must not keep us here.
    runtime.shutdown_background();
    status
}

fn gateway_of(
    listener: StdListener,
    rules: GatewayRules,
    refusals: &Refusals,
) -> io::Result<Gateway> {
    listener.set_nonblocking(true)?;
    Ok(Gateway {
        listener: TcpListener::from_std(listener)?,
        rules,
        refusals: refusals.clone(),
    })
}

fn exit_code(status: ExitStatus) -> Result<u8, String> {
    let code = status.code().map(u8::try_from);
    match (code, status.signal()) {
        (Some(Ok(code)), _) => Ok(code),
        (_, Some(signal)) => Err(format!("It was killed by signal {signal}.")),
        (Some(Err(_)) | None, None) => Err("Nobody saw how it ended.".to_owned()),
    }
}
