//! The cost of a sandbox: the same run with and without one, in turns.

use std::process::Command;

use super::figures::{Times, heading, row};
use super::one_turn::script;
use super::pi::{self, Pi};
use super::scripted_server::{Encryption, ScriptedServer};
use super::stage::{Stage, succeed};
use crate::Outcome;

const ROUNDS: usize = 30;
const ROUNDS_OF_PI: usize = 12;
const LEVELS: [&str; 2] = ["read-only", "workspace-write"];

/// Prints how much longer confined runs take; those of pi only if there is a pi.
pub(super) fn measure(pi: Option<&Pi>) -> Outcome<()> {
    heading("One run in a sandbox beside the same run without one");
    let stage = Stage::new()?;
    for level in LEVELS {
        let runs = compare(&stage, ROUNDS, |sandbox| embedded(&stage, sandbox, level))?;
        print("embedded", level, &runs, "1.5 times");
    }
    let Some(pi) = pi else {
        println!("  no pi to compare with; put it on PATH, set PI_SUBAGENTS_PI, or add --pi");
        return Ok(());
    };
    let server = ScriptedServer::start(&stage, Encryption::Without)?;
    stage.write("home/.pi/agent/models.json", &server.models_file())?;
    // The first start fills caches of the system and of pi.
    succeed(of_pi(&stage, pi, "off")?)?;
    for level in LEVELS {
        let runs = compare(&stage, ROUNDS_OF_PI, |sandbox| {
            of_pi(&stage, pi, sandbox.level(level))
        })?;
        print("pi", level, &runs, "within the noise");
    }
    Ok(())
}

/// One of the two runs that are compared.
#[derive(Debug, Clone, Copy)]
enum Sandboxed {
    No,
    Yes,
}

impl Sandboxed {
    fn level(self, level: &str) -> &str {
        match self {
            Self::No => "off",
            Self::Yes => level,
        }
    }
}

/// The times of both runs, and of the open one beside itself, which shows the noise.
struct Compared {
    open: Times,
    again: Times,
    confined: Times,
}

fn compare(
    stage: &Stage,
    rounds: usize,
    command: impl Fn(Sandboxed) -> Outcome<Command>,
) -> Outcome<Compared> {
    let mut times = Compared {
        open: Times::none(),
        again: Times::none(),
        confined: Times::none(),
    };
    let run = |sandboxed| succeed(command(sandboxed)?);
    for round in 0..rounds {
        // Nobody is always behind the same neighbour.
        if round % 2 == 0 {
            times.open.add(|| run(Sandboxed::No))?;
            times.confined.add(|| run(Sandboxed::Yes))?;
            times.again.add(|| run(Sandboxed::No))?;
        } else {
            times.again.add(|| run(Sandboxed::No))?;
            times.confined.add(|| run(Sandboxed::Yes))?;
            times.open.add(|| run(Sandboxed::No))?;
        }
    }
    stage.clear()?;
    Ok(times)
}

fn print(runner: &str, level: &str, runs: &Compared, budget: &str) {
    row(&format!("{runner}: open"), &runs.open.text(), "");
    row(&format!("{runner}: {level}"), &runs.confined.text(), "");
    let noise = runs.again.beside(&runs.open);
    let ratio = format!(
        "{:.2} times as long (open beside open: {noise:.2})",
        runs.confined.beside(&runs.open)
    );
    row("  confined takes", &ratio, budget);
}

fn embedded(stage: &Stage, sandboxed: Sandboxed, level: &str) -> Outcome<Command> {
    let script = stage.write("project/one.json", &script(0))?;
    let model = format!("scripted/{}", script.display());
    let level = sandboxed.level(level);
    stage.command(&[
        "delegate",
        "--task",
        "a=hi",
        "--runner",
        "embedded",
        "--model",
        &model,
        "--sandbox",
        level,
    ])
}

fn of_pi(stage: &Stage, pi: &Pi, level: &str) -> Outcome<Command> {
    let mut command = pi::delegate(stage, pi, "pi", 1)?;
    command.args(["--sandbox", level]);
    Ok(command)
}
