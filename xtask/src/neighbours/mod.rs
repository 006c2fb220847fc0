//! `cargo xtask neighbours`: installs the agents of others, drives each on a scripted model, and
//! prints what held. An agent that cannot be installed or started is named and left out.

mod agents;
mod stage;

use std::fs;
use std::path::Path;
use std::time::Duration;

use self::agents::{AGENTS, Neighbour};
use self::stage::{EDITED, Stage};
use crate::machine::target;
use crate::process_tree::{kill_tree, tree};
use crate::{Outcome, npm};

/// The questions, in the order of the columns.
const QUESTIONS: [&str; 11] = [
    "answers",
    "read",
    "exit 3",
    "file",
    "edit in a worktree",
    "gate",
    "list kept",
    "timeout",
    "stop",
    "kill -9",
    "resume",
];

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Held,
    /// The agent does not tell what was asked.
    Unknown,
    Failed,
}

/// Installs the agents that are missing, drives all, and prints the table.
pub(crate) fn neighbours(names: &[String]) -> Outcome<()> {
    let packages = target()?.join("neighbours");
    let mut skipped = Vec::new();
    let mut rows = Vec::new();
    let wanted =
        |agent: &&Neighbour| names.is_empty() || names.iter().any(|name| name == agent.name);
    for agent in AGENTS.iter().filter(wanted) {
        let place = packages.join(agent.name);
        let program = place.join("node_modules/.bin").join(agent.program);
        if !program.exists()
            && let Err(error) = npm::install(&place, agent.packages)
        {
            skipped.push(format!("{}: {error}", agent.name));
            continue;
        }
        match drive(agent, &place) {
            Ok(cells) => rows.push((agent.name, cells)),
            Err(error) => skipped.push(format!("{}: {error}", agent.name)),
        }
    }
    println!("\n| agent | {} |", QUESTIONS.join(" | "));
    println!("|---|{}", "---|".repeat(QUESTIONS.len()));
    for (name, cells) in &rows {
        let cells = cells.map(|cell| match cell {
            Cell::Held => "yes",
            Cell::Unknown => "?",
            Cell::Failed => "**no**",
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
    for text in &skipped {
        println!("SKIPPED {text}");
    }
    let failed = rows.iter().any(|(_, cells)| cells.contains(&Cell::Failed));
    if failed {
        return Err("not everything held".into());
    }
    if rows.is_empty() {
        return Err("no agent could be tried".into());
    }
    Ok(())
}

fn drive(agent: &Neighbour, packages: &Path) -> Outcome<[Cell; 11]> {
    println!("xtask: {} works", agent.name);
    let stage = Stage::new(agent, packages)?;
    let first = stage.run("T-WORK do it", &[])?;
    let second = stage.run("T-HELLO", &[])?;
    stage.agent_file("reader", "tools: read, grep")?;
    let reader = stage.run_agent("reader", "T-FORBIDDEN do it")?;
    let reading = stage.run("T-READ it", &[])?;
    let edited = stage.run("T-EDIT it", &["--isolation", "worktree"])?;
    let gates = ["true", "false"].map(|gate| {
        let options = ["--gate", gate, "--gate-retries", "0"];
        stage.run("T-HELLO", &options)
    });
    let [passes, fails] = gates;
    let late = stage.run("T-SLEEP do it", &["--timeout", "12"])?;
    let stopped = is_gone_after(&stage, End::Stop)?;
    let killed = is_gone_after(&stage, End::Kill)?;
    let resumed = stage.resume(&second, "T-HELLO")?;
    Ok([
        held(second.says("Hello.")),
        held(reading.has_called(agent.reads_with)),
        match first.shell_exits() {
            exits if exits.iter().any(|exit| exit == "3") => Cell::Held,
            exits if exits.iter().any(|exit| exit == "null") => Cell::Unknown,
            _ => Cell::Failed,
        },
        held(stage.project.join("new.txt").exists()),
        held(edited.has_changed(EDITED) && stage.is_untouched()?),
        held(passes?.is("completed") && fails?.is("failed")),
        held(!stage.project.join("forbidden").exists() && reader.has_ended()),
        held(late.printed.contains("Timed out") || late.printed.contains("Loop detected")),
        stopped,
        killed,
        held(resumed.says("Hello.")),
    ])
}

/// How a run ends before its agent has finished.
#[derive(Debug, Clone, Copy)]
enum End {
    Stop,
    Kill,
}

/// Ends a run whose agent works, and looks whether all below its owner are gone.
fn is_gone_after(stage: &Stage, end: End) -> Outcome<Cell> {
    let marker = stage.project.join("asleep");
    // An earlier run may have made it.
    _ = fs::remove_file(&marker);
    let mut owner = stage.spawn("T-SLEEP do it")?;
    let started = stage::waited(Duration::from_mins(1), || marker.exists());
    let below = tree(owner.id());
    match end {
        End::Stop => stage.stop()?,
        End::Kill => owner.kill()?,
    }
    owner.wait()?;
    let is_alive = |pid: &u32| Path::new(&format!("/proc/{pid}/status")).exists();
    let gone = stage::waited(Duration::from_secs(10), || !below.iter().any(is_alive));
    for pid in below {
        if is_alive(&pid) {
            kill_tree(pid);
        }
    }
    Ok(held(started && gone))
}

fn held(is_so: bool) -> Cell {
    if is_so { Cell::Held } else { Cell::Failed }
}
