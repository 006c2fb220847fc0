//! Measures how fast the stream of a child is read.

use std::process::Stdio;

use super::figures::{as_float, heading, megabytes, row};
use super::processes::{Watched, watch};
use super::stage::{Stage, shipped};
use crate::Outcome;

const MEGABYTES: u64 = 1000;

/// Pi 0.87 prints a text of one megabyte in lines of 365 bytes and 15 megabytes, then as a whole.
const AN_ANSWER: [Flood; 2] = [
    Flood::new("message_update", 365, 15),
    Flood::new("message_end", 10_000, 1),
];

/// A number of megabytes in lines of one kind.
#[derive(Clone, Copy)]
struct Flood {
    kind: &'static str,
    line_bytes: u32,
    megabytes: u64,
}

impl Flood {
    const fn new(kind: &'static str, line_bytes: u32, megabytes: u64) -> Self {
        Self {
            kind,
            line_bytes,
            megabytes,
        }
    }

    fn step(&self) -> String {
        let Self {
            kind,
            line_bytes,
            megabytes,
        } = self;
        format!(
            r#"{{\"flood\":{{\"megabytes\":{megabytes},\"type\":\"{kind}\",\"lineBytes\":{line_bytes}}}}},"#
        )
    }
}

pub(super) fn measure() -> Outcome<()> {
    heading("Reading the stream of a child (1 GB)");
    let stage = Stage::new()?;
    let idle = read(&stage, &[])?;
    let answers = AN_ANSWER.repeat(63);
    let alone = |kind, line_bytes| vec![Flood::new(kind, line_bytes, MEGABYTES)];
    for (name, floods, budget) in [
        (
            "answers as pi streams them",
            answers,
            "500 MB/s on one core",
        ),
        ("only pieces of 300 bytes", alone("message_update", 300), ""),
        ("only messages of 300 bytes", alone("message_end", 300), ""),
        ("only messages of 10 KB", alone("message_end", 10_000), ""),
    ] {
        let full = read(&stage, &floods)?;
        let seconds = full.wall.saturating_sub(idle.wall).as_secs_f64();
        let processor = full.processor.saturating_sub(idle.processor).as_secs_f64();
        let megabytes_read = as_float(floods.iter().map(|flood| flood.megabytes).sum());
        let figure = format!(
            "{:.0} MB/s, {:.0} MB per second of the owner's processor time",
            megabytes_read / seconds,
            megabytes_read / processor,
        );
        row(name, &figure, budget);
        let memory = megabytes(full.peak("owner"));
        row("  highest memory of the owner", &memory, "64 MB");
    }
    Ok(())
}

/// Returns the megabytes of messages of 10 KB that an owner reads in a second of its processor time.
pub(super) fn messages(stage: &Stage, megabytes: u64) -> Outcome<f64> {
    let idle = read(stage, &[])?;
    let full = read(stage, &[Flood::new("message_end", 10_000, megabytes)])?;
    let processor = full.processor.saturating_sub(idle.processor);
    Ok(as_float(megabytes) / processor.as_secs_f64())
}

fn read(stage: &Stage, floods: &[Flood]) -> Outcome<Watched> {
    let steps: String = floods.iter().map(Flood::step).collect();
    let script = format!(r#"[{steps}{{\"reply\":\"ok\"}}]"#);
    let call = format!(r#"{{"tasks": [{{"name": "flood", "prompt": "{script}"}}]}}"#);
    let call = stage.write("call.json", &call)?;
    let mut command = stage.command(&["delegate", "--runner", "pi"])?;
    command
        .arg(call)
        .env("PI_SUBAGENTS_PI", shipped("misbehave")?)
        .stderr(Stdio::null());
    let watched = watch(command.spawn()?)?;
    if watched.status.success() {
        return Ok(watched);
    }
    Err(format!("the flood ended with {}", watched.status).into())
}
