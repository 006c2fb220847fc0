//! Measures how long a caller waits until its background run has a process of its own.

use std::fs;

use super::figures::{Times, heading, row};
use super::one_turn::script;
use super::stage::{Stage, succeed};
use crate::Outcome;

const ROUNDS: usize = 20;

pub(super) fn measure() -> Outcome<()> {
    heading("Starting a background run");
    let stage = Stage::new()?;
    let script = stage.write("background.json", &script(0))?;
    let presets = stage.agent_dir().join("subagents");
    fs::create_dir_all(&presets)?;
    let preset = format!(
        "---\nname: talker\ndescription: Talks.\nmodel: scripted/{}\nrunner: embedded\n---\nHello.\n",
        script.display()
    );
    fs::write(presets.join("talker.md"), preset)?;
    let spawned = Times::of(ROUNDS, || {
        succeed(stage.command(&["spawn", "talker", "hi"])?)
    })?;
    row("spawn, until it returns", &spawned.text(), "50 ms");
    // No process of it may be at work during the next measurement.
    succeed(stage.command(&["stop", "--all"])?)
}
