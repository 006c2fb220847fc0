//! Grandchildren that outlive a careless stop.

use std::env;
use std::io;
use std::process::{self, Child, Command, ExitCode, Stdio};
use std::thread;

use crate::step::{Fork, ForkKind};
use crate::{dump, output, signals};

/// The hidden first argument of a grandchild: `--grandchild <kind> <pid file>`.
pub(crate) const FLAG: &str = "--grandchild";

/// The number of times that a race goes on as a new process: enough for some seconds.
const RACE: u32 = 10_000;

/// The number of processes in a crowd.
const CROWD: usize = 20;

/// Starts a grandchild and returns when its pid file is there or its start failed.
pub(crate) fn start(fork: &Fork) -> io::Result<()> {
    let _ = std::fs::remove_file(&fork.pid_file);
    let (word, waits) = match fork.kind {
        ForkKind::SameGroup => ("plain", false),
        ForkKind::OwnSession => ("session", false),
        ForkKind::IgnoresTerm => ("deaf", false),
        ForkKind::DoubleFork => ("fork-plain", true),
        ForkKind::Daemon => ("fork-session", true),
        ForkKind::Forgetful => ("bare-session", true),
        ForkKind::Relay => ("relay-200", true),
        ForkKind::Race => ("race", true),
        ForkKind::Crowd => ("crowd", true),
    };
    let output = if fork.inherit_output {
        Stdio::inherit
    } else {
        Stdio::null
    };
    let mut child = spawn(word, &fork.pid_file, output)?;
    if waits {
        child.wait()?;
    }
    Ok(())
}

/// Lives as a grandchild: `arguments` are the kind and the pid file.
pub(crate) fn live(arguments: &[String]) -> ExitCode {
    let [kind, pid_file] = arguments else {
        return ExitCode::from(crate::EXIT_USAGE);
    };
    match become_kind(kind, pid_file) {
        Ok(Life::ForEver) => loop {
            thread::park();
        },
        Ok(Life::Over) => ExitCode::SUCCESS,
        Err(error) => {
            output::stderr(&format!("misbehave: grandchild {kind}: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// The length of a process's life.
enum Life {
    ForEver,
    Over,
}

fn become_kind(kind: &str, pid_file: &str) -> io::Result<Life> {
    if let Some(rest) = kind.strip_prefix("fork-") {
        spawn(rest, pid_file, Stdio::inherit)?;
        return Ok(Life::Over);
    }
    if let Some(rest) = kind.strip_prefix("bare-") {
        command(rest, pid_file)?.env_clear().spawn()?;
        return Ok(Life::Over);
    }
    if kind == "race" {
        dump::write_whole(pid_file, &process::id().to_string())?;
        spawn(&format!("race-{RACE}"), pid_file, Stdio::inherit)?;
        return Ok(Life::Over);
    }
    if let Some(legs) = kind
        .strip_prefix("race-")
        .and_then(|legs| legs.parse::<u32>().ok())
    {
        if legs > 0 {
            spawn(&format!("race-{}", legs - 1), pid_file, Stdio::inherit)?;
        }
        return Ok(Life::Over);
    }
    if let Some(legs) = kind
        .strip_prefix("relay-")
        .and_then(|legs| legs.parse::<u32>().ok())
    {
        let next = match legs {
            0 => "plain".to_owned(),
            legs => format!("relay-{}", legs - 1),
        };
        spawn(&next, pid_file, Stdio::inherit)?;
        return Ok(Life::Over);
    }
    if kind == "crowd" {
        for number in 1..CROWD {
            spawn("plain", &format!("{pid_file}.{number}"), Stdio::inherit)?;
        }
        spawn("plain", pid_file, Stdio::inherit)?;
        return Ok(Life::Over);
    }
    if kind == "session" {
        rustix::process::setsid()?;
    }
    if kind == "deaf" {
        signals::ignore_polite_ones()?;
    }
    dump::write_whole(pid_file, &process::id().to_string())?;
    Ok(Life::ForEver)
}

fn spawn(kind: &str, pid_file: &str, output: fn() -> Stdio) -> io::Result<Child> {
    command(kind, pid_file)?
        .stdout(output())
        .stderr(output())
        .spawn()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the grandchild has to be a real process"
)]
fn command(kind: &str, pid_file: &str) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args([FLAG, kind, pid_file]).stdin(Stdio::null());
    Ok(command)
}
