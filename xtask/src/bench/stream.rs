//! How fast the stream of a child is read.

use std::process::Stdio;

use super::figures::{as_float, heading, megabytes, row};
use super::processes::{Watched, watch};
use super::stage::{Stage, release};
use crate::Outcome;

const MEGABYTES: u64 = 1000;

pub(super) fn measure() -> Outcome<()> {
    heading("Reading the stream of a child (1 GB)");
    let idle = flood("message_update", 300, 0)?;
    for (kind, line_bytes) in [
        ("message_update", 300),
        ("message_end", 300),
        ("message_end", 10_000),
    ] {
        let full = flood(kind, line_bytes, MEGABYTES)?;
        let seconds = full.wall.saturating_sub(idle.wall).as_secs_f64();
        let processor = full.processor.saturating_sub(idle.processor).as_secs_f64();
        let figure = format!(
            "{:.0} MB/s, {:.0} MB per second of the owner's processor time",
            as_float(MEGABYTES) / seconds,
            as_float(MEGABYTES) / processor,
        );
        let name = format!("{kind}, lines of {line_bytes} bytes");
        row(&name, &figure, "500 MB/s on one core");
        let memory = megabytes(full.peak("owner"));
        row("  highest memory of the owner", &memory, "64 MB");
    }
    Ok(())
}

fn flood(kind: &str, line_bytes: u32, megabytes: u64) -> Outcome<Watched> {
    let stage = Stage::new()?;
    let script = format!(
        r#"[{{\"flood\":{{\"megabytes\":{megabytes},\"type\":\"{kind}\",\"lineBytes\":{line_bytes}}}}},{{\"reply\":\"ok\"}}]"#
    );
    let call = format!(r#"{{"tasks": [{{"name": "flood", "prompt": "{script}"}}]}}"#);
    let call = stage.write("call.json", &call)?;
    let mut command = stage.command(&["delegate", "--runner", "pi"])?;
    command
        .arg(call)
        .env("PI_SUBAGENTS_PI", release("misbehave")?)
        .stderr(Stdio::null());
    let watched = watch(command.spawn()?)?;
    if watched.status.success() {
        return Ok(watched);
    }
    Err(format!("the flood of {kind} ended with {}", watched.status).into())
}
