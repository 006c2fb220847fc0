//! `status` when much has been done already.

use std::fmt::Write as _;
use std::fs;

use super::figures::{Times, heading, row};
use super::stage::{Stage, succeed};
use crate::Outcome;

const RUNS: usize = 10_000;
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
    Ok(())
}

/// Writes an index and run directories in the format of the sessions crate.
pub(super) fn write_runs(stage: &Stage) -> Outcome<()> {
    let project = fs::canonicalize(stage.project())?;
    let project = project.display();
    let mut index = String::new();
    for number in 0..RUNS {
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
        fs::create_dir_all(&directory)?;
        let meta = format!(
            r#"{{"format":1,"runId":"{run}","sessionId":"{session}","prompt":"hi","cwd":"{project}",{what}}}"#
        );
        fs::write(format!("{directory}/meta.json"), meta)?;
    }
    fs::write(stage.agent_dir().join("subagents-index.jsonl"), index)?;
    Ok(())
}
