//! Measures the share of the receipt in a call: the fold over the events of a run, against the
//! whole time of that run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::figures::{Times, heading, milliseconds, over, row};
use super::stage::{Stage, shipped, succeed};
use crate::Outcome;

const ROUNDS: usize = 5;

/// The number of tool calls of the run.
const CALLS: usize = 100;

pub(super) fn measure() -> Outcome<()> {
    heading("The receipt of a run of 100 tool calls");
    let stage = Stage::new()?;
    let turn = r#"{"toolCalls": [{"name": "ls", "arguments": {}}]},"#.repeat(CALLS);
    let script = format!(r#"{{"rules": [{{"turns": [{turn}{{"text": "Done."}}]}}]}}"#);
    let model = format!("scripted/{}", stage.write("calls.json", &script)?.display());
    let delegate = || {
        let command = stage.command(&[
            "delegate", "--task", "a=hi", "--runner", "embedded", "--model", &model,
        ])?;
        succeed(command)
    };
    fs::write(
        stage.agent_dir().join("settings.json"),
        r#"{"subagents": {"looping_tool_count": 0}}"#,
    )?;
    let wall = Times::of(ROUNDS, delegate)?;
    row("delegate, with its receipt", &wall.text(), "");
    let directory = find_record(&stage.path(""))?.ok_or("the run left no record")?;
    let output = stage
        .other(&shipped("examples/receipt_time")?)
        .arg(directory)
        .stdout(std::process::Stdio::piped())
        .output()?;
    let fold = String::from_utf8_lossy(&output.stdout).trim().parse()?;
    let fold = Duration::from_nanos(fold);
    row("  the receipt alone", &milliseconds(fold), "");
    let whole = wall.best().as_secs_f64();
    let ratio = whole / (whole - fold.as_secs_f64());
    row("  with it, against without", &over(ratio), "+2 %");
    Ok(())
}

/// Finds the directory of a recorded run.
fn find_record(directory: &Path) -> Outcome<Option<PathBuf>> {
    if directory.join("events.jsonl").exists() {
        return Ok(Some(directory.to_owned()));
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir()
            && let Some(found) = find_record(&entry.path())?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
