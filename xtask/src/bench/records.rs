//! Printing a large record.

use std::process::Stdio;

use super::figures::{heading, megabytes, row};
use super::processes::{Watched, watch};
use super::stage::{Stage, shipped, succeed};
use crate::Outcome;

/// The messages of the record, and the bytes of each.
const MESSAGES: usize = 30_000;
const BYTES: usize = 10_000;

/// Measures what printing a record of 300 MB takes; without `--full` one of 30 MB.
pub(super) fn measure(is_full: bool) -> Outcome<()> {
    let messages = if is_full { MESSAGES } else { MESSAGES / 10 };
    let megabytes_of_record = messages * BYTES / 1_000_000;
    heading(&format!("Printing a record of {megabytes_of_record} MB"));
    let stage = Stage::new()?;
    write(&stage, messages)?;
    for arguments in [
        &["session", "last"][..],
        &["session", "last", "--json"],
        &["logs", "last"],
        &["output", "last"],
    ] {
        let watched = print(&stage, arguments)?;
        let figure = format!(
            "{:.2} s of a processor, {}",
            watched.processor.as_secs_f64(),
            megabytes(watched.peak("owner"))
        );
        row(&arguments.join(" "), &figure, "40 MB");
    }
    Ok(())
}

/// Writes the record of a run that says so many messages of 10 KB.
pub(super) fn write(stage: &Stage, messages: usize) -> Outcome<()> {
    let script = format!(
        r#"[{{"messages": {{"count": {messages}, "bytes": {BYTES}}}}}, {{"reply": "done"}}]"#
    );
    let mut recorded = stage.command(&["delegate", "--quiet", "--runner", "pi"])?;
    recorded
        .arg(format!("--task=a={script}"))
        .env("PI_SUBAGENTS_PI", shipped("misbehave")?);
    succeed(recorded)
}

/// Lets a command print the record, and watches it.
pub(super) fn print(stage: &Stage, arguments: &[&str]) -> Outcome<Watched> {
    let mut command = stage.command(arguments)?;
    let watched = watch(command.stderr(Stdio::null()).spawn()?)?;
    if !watched.status.success() {
        return Err(format!("{arguments:?} ended with {}", watched.status).into());
    }
    Ok(watched)
}
