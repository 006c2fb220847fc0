//! `status` when much has been done already.

use std::fmt::Write as _;
use std::fs;
use std::process::Stdio;

use super::figures::{Times, heading, megabytes, row};
use super::processes::watch;
use super::stage::{Stage, succeed};
use crate::Outcome;

/// The number of runs of a project that is in use every day.
pub(super) const RUNS: usize = 10_000;
/// The number of runs after years. Their directories are not written, because no command here opens
/// them.
const MANY: usize = 100_000;
const ROUNDS: usize = 10;

pub(super) fn measure() -> Outcome<()> {
    heading("Looking at 10,000 past runs");
    let stage = Stage::new()?;
    write_runs(&stage)?;
    for arguments in [
        &["status"][..],
        &["status", "--all"],
        &["status", "--all", "--json"],
    ] {
        let times = Times::of(ROUNDS, || succeed(stage.command(arguments)?))?;
        row(&arguments.join(" "), &times.text(), "100 ms");
    }
    let tab = ["complete-words", "fish", "pi-subagents", "output", ""];
    let times = Times::of(ROUNDS, || succeed(stage.command(&tab)?))?;
    row("completion of an id", &times.text(), "50 ms");
    measure_many()
}

fn measure_many() -> Outcome<()> {
    heading("Looking at 100,000 past runs");
    let stage = Stage::new()?;
    write_many(&stage)?;
    for (arguments, budget) in [
        (&["status"][..], "100 ms, 40 MB"),
        (&["status", "--all", "--limit", "50"], "250 ms, 60 MB"),
        (&["status", "--all"], ""),
        (&["status", "last"], ""),
    ] {
        let times = Times::of(ROUNDS, || succeed(stage.command(arguments)?))?;
        let mut command = stage.command(arguments)?;
        let watched = watch(command.stderr(Stdio::null()).spawn()?)?;
        let figure = format!("{}, {}", times.text(), megabytes(watched.peak("owner")));
        row(&arguments.join(" "), &figure, budget);
    }
    Ok(())
}

/// Writes an index and run directories in the format of the sessions crate.
pub(super) fn write_runs(stage: &Stage) -> Outcome<()> {
    write_index(stage, RUNS, |directory, meta| {
        fs::create_dir_all(directory)?;
        fs::write(format!("{directory}/meta.json"), meta)?;
        Ok(())
    })
}

/// Writes an index of 100,000 runs.
pub(super) fn write_many(stage: &Stage) -> Outcome<()> {
    write_index(stage, MANY, |_, _| Ok(()))
}

/// Writes an index of this number of runs, and does something for the directory of each with the
/// content of its first file.
fn write_index(
    stage: &Stage,
    runs: usize,
    mut each: impl FnMut(&str, &str) -> Outcome<()>,
) -> Outcome<()> {
    let project = fs::canonicalize(stage.project())?;
    let project = project.display();
    let mut index = String::new();
    for number in 0..runs {
        let run = format!("20260101-000000-000-{number:06x}");
        let (at, session) = ("2026-01-01T00:00:00Z", format!("{number:016x}"));
        let directory = format!("{project}/.pi/subagents/runs/{run}");
        let owner = r#"{"pid":1,"startTime":1,"host":"here","socket":null}"#;
        let what =
            format!(r#""name":"task","project":"{project}","acceptedAt":"{at}","owner":{owner}"#);
        writeln!(
            index,
            r#"{{"run":"{run}","session":"{session}","directory":"{directory}",{what}}}"#
        )?;
        writeln!(
            index,
            r#"{{"run":"{run}","status":"completed","exitCode":0,"endedAt":"{at}"}}"#
        )?;
        let meta = format!(
            r#"{{"format":1,"runId":"{run}","sessionId":"{session}","prompt":"hi","cwd":"{project}",{what}}}"#
        );
        each(&directory, &meta)?;
    }
    fs::write(stage.agent_dir().join("subagents-index.jsonl"), index)?;
    Ok(())
}
