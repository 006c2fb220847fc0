//! The smallest things: printing the version, and one turn of one embedded agent.

use std::process::{Command, Stdio};

use super::figures::{Times, heading, megabytes, row};
use super::processes::watch;
use super::stage::{Stage, succeed};
use crate::Outcome;

const ROUNDS: usize = 20;

/// Returns a script of one turn that takes this number of milliseconds.
pub(super) fn script(delay_ms: u32) -> String {
    format!(r#"{{"rules": [{{"turns": [{{"text": "Hello.", "delayMs": {delay_ms}}}]}}]}}"#)
}

pub(super) fn measure() -> Outcome<()> {
    heading("One run of the embedded agent on the scripted model");
    let stage = Stage::new()?;
    let version = Times::of(ROUNDS, || succeed(stage.command(&["--version"])?))?;
    row("start-up (--version)", &version.text(), "");
    let wall = Times::of(ROUNDS, || succeed(delegate(&stage, 0)?))?;
    row("delegate, one task of one turn", &wall.text(), "");
    // A turn that waits keeps every process in sight at its full size.
    let mut command = delegate(&stage, 300)?;
    let watched = watch(command.stderr(Stdio::null()).spawn()?)?;
    if !watched.status.success() {
        return Err(format!("the watched run ended with {}", watched.status).into());
    }
    for role in ["owner", "keeper", "embedded"] {
        let budget = if role == "owner" { "30 MB" } else { "" };
        let name = format!("highest memory of the {role}");
        row(&name, &megabytes(watched.peak(role)), budget);
    }
    Ok(())
}

fn delegate(stage: &Stage, delay_ms: u32) -> Outcome<Command> {
    let script = stage.write(&format!("one-{delay_ms}.json"), &script(delay_ms))?;
    let model = format!("scripted/{}", script.display());
    stage.command(&[
        "delegate", "--task", "a=hi", "--runner", "embedded", "--model", &model,
    ])
}
