//! What it costs a pi to have our package installed: its start, without and with it.
//!
//! The first package of any kind makes pi load its loader of extensions, so a package that does
//! nothing stands between the two. Beside the time stands the work, in time on a processor, which
//! a busy machine disturbs less.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::figures::{Times, heading, row};
use super::pi::Pi;
use super::stage::Stage;
use crate::Outcome;
use crate::machine::root;

const ROUNDS: usize = 21;

/// A pi with a certain package, and what its starts took.
struct Installed {
    name: &'static str,
    stage: Stage,
    times: Times,
    work: Times,
}

/// Prints how much later pi is ready with the package than without.
pub(super) fn measure(pi: &Pi) -> Outcome<()> {
    heading("The start of pi until it answers, by the package it has");
    let empty = Stage::new()?;
    let nothing = empty.write("nothing.js", "export default function () {}\n")?;
    let package = root().join("extension");
    let mut all = [
        Installed::new("no package", None)?,
        Installed::new("one that does nothing", Some(("extensions", &nothing)))?,
        Installed::new("ours", Some(("packages", &package)))?,
    ];
    for installed in &all {
        // The first start fills caches of the system and of pi.
        end(ready(&installed.stage, pi)?)?;
    }
    for _ in 0..ROUNDS {
        // In turns, so that what disturbs the machine disturbs all.
        for installed in &mut all {
            installed.start(pi)?;
        }
    }
    for Installed {
        name, times, work, ..
    } in &all
    {
        row(name, &times.text(), "");
        row("  work", &work.text(), "");
    }
    let [none, nothing, ours] = &all;
    compare("any package costs", nothing, none, "");
    compare("ours costs beside it", ours, nothing, "3 %");
    compare("ours costs in all", ours, none, "3 %");
    Ok(())
}

fn compare(name: &str, with: &Installed, without: &Installed, budget: &str) {
    let over = |with: &Times, without: &Times| {
        let ratio = with.median().as_secs_f64() / without.median().as_secs_f64();
        format!("{:+.1} %", (ratio - 1.0) * 100.0)
    };
    let time = over(&with.times, &without.times);
    let work = over(&with.work, &without.work);
    row(name, &format!("{time} time, {work} work"), budget);
}

impl Installed {
    fn new(name: &'static str, setting: Option<(&str, &Path)>) -> Outcome<Self> {
        let stage = Stage::new()?;
        if let Some((kind, path)) = setting {
            let settings = format!("{{{kind:?}: [{:?}]}}", path.display().to_string());
            fs::write(stage.agent_dir().join("settings.json"), settings)?;
        }
        Ok(Self {
            name,
            stage,
            times: Times::none(),
            work: Times::none(),
        })
    }

    fn start(&mut self, pi: &Pi) -> Outcome<()> {
        let mut started = None;
        self.times.add(|| {
            started = Some(ready(&self.stage, pi)?);
            Ok(())
        })?;
        let started = started.ok_or("pi was not started")?;
        self.work.push(work_of(&started)?);
        end(started)
    }
}

/// Starts pi and waits until it answers.
fn ready(stage: &Stage, pi: &Pi) -> Outcome<Child> {
    let mut child = stage
        .other(&pi.program)
        .args(["--mode", "rpc", "--no-session"])
        .env("PATH", &pi.path)
        .env("PI_OFFLINE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let stdin = child.stdin.as_mut().ok_or("pi has no stdin")?;
    stdin.write_all(b"{\"id\":\"1\",\"type\":\"get_commands\"}\n")?;
    let stdout = child.stdout.take().ok_or("pi has no stdout")?;
    let answer = BufReader::new(stdout).lines().find(|line| {
        line.as_ref()
            .is_ok_and(|line| line.contains("\"response\""))
    });
    answer.ok_or("pi did not answer")??;
    Ok(child)
}

/// How long all threads of a process have been on a processor.
fn work_of(process: &Child) -> Outcome<Duration> {
    let mut work = Duration::ZERO;
    for thread in fs::read_dir(format!("/proc/{}/task", process.id()))? {
        let line = fs::read_to_string(thread?.path().join("schedstat"))?;
        let nanoseconds = line.split(' ').next().unwrap_or_default().parse()?;
        work += Duration::from_nanos(nanoseconds);
    }
    Ok(work)
}

fn end(mut pi: Child) -> Outcome<()> {
    drop(pi.stdin.take());
    pi.wait()?;
    Ok(())
}
