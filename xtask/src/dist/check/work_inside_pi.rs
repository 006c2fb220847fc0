//! A day's work inside a pi that has our packages from npm: changes in a worktree that are merged, and
//! a background run that goes on when pi has ended.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::home::output;
use super::inside_pi::{Stage, not_here, npm_source};
use super::{Checked, Shipment};
use crate::Outcome;

/// The calling model delegates a change, merges it, and starts a background run.
const SCRIPT: &str = r#"{"rules": [
  {"user": "Delegate it", "turns": [
    {"toolCalls": [{"name": "delegate_to_subagents", "arguments": {"tasks": [{"name": "lamp", "prompt": "Write the lamp.", "isolation": "worktree"}]}}]},
    {"toolCalls": [{"name": "merge_subagents", "arguments": {"runs": ["lamp"]}}]},
    {"toolCalls": [{"name": "background_agent", "arguments": {"preset": "default", "task": "Write the horn."}}]},
    {"text": "All is done."}
  ]},
  {"user": "Write the lamp", "turns": [
    {"toolCalls": [{"name": "write", "arguments": {"path": "lamp.txt", "content": "It shines.\n"}}]},
    {"text": "The lamp is written."}
  ]},
  {"user": "Write the horn", "turns": [
    {"delayMs": 500, "toolCalls": [{"name": "write", "arguments": {"path": "horn.txt", "content": "It sounds.\n"}}]},
    {"text": "The horn is written."}
  ]}
]}"#;

/// The longest time that the background run may take on a busy machine.
const LONGEST_WAIT: Duration = Duration::from_mins(2);

/// The pause between two looks at its file.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The parts of the answers that show the work.
const SEEN: [&str; 3] = [
    "✓ lamp: completed",
    "✓ lamp: merged",
    "Started default in the background",
];

pub(super) fn work(shipment: &Shipment) -> Outcome<Checked> {
    let Some(stage) = Stage::with_script(shipment, "pi-1.5", SCRIPT)? else {
        return Ok(not_here());
    };
    let project = stage.home().path("project");
    let commit = "-c user.name=a -c user.email=a@b.c commit -qm Begin";
    for arguments in ["init -q", "add -A", commit] {
        let mut git = stage.home().command(Path::new("git"));
        output(git.args(arguments.split(' ')))?;
    }
    stage.install(&npm_source(shipment))?;
    let events = stage.ask()?;
    for wanted in SEEN {
        if !events.contains(wanted) {
            return Err(format!("{wanted:?} was not answered:\n{events}").into());
        }
    }
    let merged = fs::read_to_string(project.join("lamp.txt"))?;
    if merged != "It shines.\n" {
        return Err(format!("the merge wrote {merged:?}").into());
    }
    wait_for(&project.join("horn.txt"))?;
    Ok(Checked::Works(
        "a worktree, its merge, and a background run that outlived pi".to_owned(),
    ))
}

/// Waits for the file of the background run.
fn wait_for(file: &Path) -> Outcome<()> {
    let begun = Instant::now();
    while !file.exists() {
        if begun.elapsed() > LONGEST_WAIT {
            return Err(format!("{} was never written", file.display()).into());
        }
        sleep(LOOK_AGAIN);
    }
    Ok(())
}
