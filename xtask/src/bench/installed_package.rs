//! Measures how long a pi takes to start without and with our package installed.
//!
//! The start ends where pi's own startup benchmark ends: when a person can type. The first package
//! of any kind makes pi load its loader of extensions, so a package that does nothing is measured
//! too. Beside the time stands the work of pi's main thread, which a busy machine disturbs less.
//! Neighbouring starts are compared, because a machine is busy for a while.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{tcgetwinsize, tcsetwinsize};

use super::figures::{Times, heading, over, row};
use super::pi::Pi;
use super::stage::Stage;
use crate::Outcome;
use crate::machine::root;

const ROUNDS: usize = 40;

/// A pi with a certain package, and the times of its starts.
struct Installed {
    name: &'static str,
    stage: Stage,
    starts: Vec<Start>,
}

#[derive(Clone, Copy)]
struct Start {
    time: Duration,
    work: Duration,
}

/// Prints how much later pi is ready with the package than without.
pub(super) fn measure(pi: &Pi) -> Outcome<()> {
    heading("The start of pi in a terminal, by the package it has");
    let place = Stage::new()?;
    let mut all = [
        Installed::new("no package", None)?,
        Installed::new("one that does nothing", Some(&idle_package(&place)?))?,
        Installed::new("ours", Some(&root().join("extension")))?,
    ];
    for installed in &all {
        // The first start fills caches of the system and of pi.
        start(&installed.stage, pi)?;
    }
    for _ in 0..ROUNDS {
        for installed in &mut all {
            installed.starts.push(start(&installed.stage, pi)?);
        }
        // No start always comes after the same other one; the number of rounds is even, so the
        // order is kept.
        all.reverse();
    }
    for installed in &all {
        row(installed.name, &installed.times(Start::time).text(), "");
        row("  work", &installed.times(Start::work).text(), "");
    }
    let [none, nothing, ours] = &all;
    compare("any package costs", nothing, none, "");
    compare("ours costs beside it", ours, nothing, "3 %");
    compare("ours costs in all", ours, none, "");
    Ok(())
}

/// Makes a package that is as small as it can be.
fn idle_package(stage: &Stage) -> Outcome<PathBuf> {
    let package = stage.path("idle");
    fs::create_dir(&package)?;
    let manifest = r#"{"name": "idle", "pi": {"extensions": ["./idle.js"]}}"#;
    fs::write(package.join("package.json"), manifest)?;
    fs::write(package.join("idle.js"), "export default function () {}\n")?;
    Ok(package)
}

fn compare(name: &str, with: &Installed, without: &Installed, budget: &str) {
    let [time, work] = [Start::time as fn(&Start) -> _, Start::work]
        .map(|what| over(with.times(what).beside(&without.times(what))));
    row(name, &format!("{time} time, {work} work"), budget);
}

impl Start {
    fn time(&self) -> Duration {
        self.time
    }

    fn work(&self) -> Duration {
        self.work
    }
}

impl Installed {
    fn new(name: &'static str, package: Option<&Path>) -> Outcome<Self> {
        let stage = Stage::new()?;
        if let Some(package) = package {
            let settings = format!("{{\"packages\": [{:?}]}}", package.display().to_string());
            fs::write(stage.agent_dir().join("settings.json"), settings)?;
        }
        Ok(Self {
            name,
            stage,
            starts: Vec::new(),
        })
    }

    fn times(&self, what: impl Fn(&Start) -> Duration) -> Times {
        let mut times = Times::none();
        for start in &self.starts {
            times.push(what(start));
        }
        times
    }
}

/// Starts pi in a terminal of its own; with this variable it leaves when it is ready.
fn start(stage: &Stage, pi: &Pi) -> Outcome<Start> {
    let mut screen = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?);
    grantpt(&screen)?;
    unlockpt(&screen)?;
    let mut size = tcgetwinsize(&screen)?;
    (size.ws_col, size.ws_row) = (100, 40);
    tcsetwinsize(&screen, size)?;
    let terminal = ptsname(&screen, Vec::new())?.into_string()?;
    let terminal = File::options().read(true).write(true).open(terminal)?;
    let begun = Instant::now();
    let mut child = stage
        .other(&pi.program)
        .arg("--no-session")
        .env("PATH", &pi.path)
        .env("TERM", "xterm-256color")
        .env("PI_STARTUP_BENCHMARK", "1")
        .stdin(terminal.try_clone()?)
        .stdout(terminal.try_clone()?)
        .stderr(terminal)
        .spawn()?;
    let shown = read_all(&mut screen)?;
    let work = work_of(&child)?;
    let time = begun.elapsed();
    if !child.wait()?.success() {
        return Err(format!("pi did not start:\n{shown}").into());
    }
    Ok(Start { time, work })
}

/// Reads until the last writer has left, which a terminal reports as an error.
fn read_all(screen: &mut File) -> Outcome<String> {
    let mut shown = Vec::new();
    match screen.read_to_end(&mut shown) {
        Err(error) if Errno::from_io_error(&error) != Some(Errno::IO) => Err(error.into()),
        Ok(_) | Err(_) => Ok(String::from_utf8_lossy(&shown).into_owned()),
    }
}

/// Waits for the end of a process and returns how long its main thread was on a processor.
fn work_of(process: &Child) -> Outcome<Duration> {
    let pid = Pid::from_child(process);
    // Its figures are there until its status is taken.
    waitid(
        WaitId::Pid(pid),
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
    )?;
    let line = fs::read_to_string(format!("/proc/{}/schedstat", process.id()))?;
    let nanoseconds = line.split(' ').next().unwrap_or_default().parse()?;
    Ok(Duration::from_nanos(nanoseconds))
}
