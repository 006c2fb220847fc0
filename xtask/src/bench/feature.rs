//! Compares the program with a build of it that has no fleet.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::build;
use super::figures::{Times, as_float, heading, megabytes, over, row};
use super::one_turn::script;
use super::processes::watch;
use super::stage::{Stage, release, succeed};
use crate::Outcome;

/// The number of starts of each build. Neighbours are compared, because a machine is busy for a
/// while.
const ROUNDS: usize = 40;

/// Prints what the fleet costs those who do not use it.
pub(super) fn measure() -> Outcome<()> {
    let builds = build_both()?;
    heading("The program, beside a build of it without the fleet");
    let stage = Stage::new()?;
    compare_times("start-up (--version)", &builds, |program| {
        let mut command = stage.other(program);
        command.arg("--version");
        Ok(command)
    })?;
    compare_times("status of a project without runs", &builds, |program| {
        let mut command = stage.other(program);
        command.arg("status");
        Ok(command)
    })?;
    compare_times("delegate, one task of one turn", &builds, |program| {
        delegate(&stage, program, 0)
    })?;
    compare_memory(&stage, &builds)?;
    let [with, without] = [&builds.with, &builds.without].map(fs::metadata);
    let (with, without) = (with?.len() / 1024, without?.len() / 1024);
    row("size of the program", &compared(with, without), "");
    Ok(())
}

/// The programs of both builds.
struct Builds {
    with: PathBuf,
    without: PathBuf,
}

/// Builds both. They share most packages, and the name of the program, so each is copied away. Two
/// copies also lie alike in the cache of the system: a program that the linker has just written
/// starts a tenth faster or slower than its copy, which is more than what is measured here.
fn build_both() -> Outcome<Builds> {
    let program = release("pi-subagents")?;
    let builds = Builds {
        with: release("pi-subagents-with-fleet")?,
        without: release("pi-subagents-without-fleet")?,
    };
    build("build --release --locked --no-default-features")?;
    copy(&program, &builds.without)?;
    build("build --release --locked")?;
    copy(&program, &builds.with)?;
    Ok(builds)
}

fn copy(program: &Path, copy: &Path) -> Outcome<()> {
    let content = fs::read(program)?;
    // A file that is written over keeps the place of the old one in the cache.
    if copy.exists() {
        fs::remove_file(copy)?;
    }
    fs::write(copy, content)?;
    fs::set_permissions(copy, Permissions::from_mode(0o755))?;
    Ok(())
}

fn compare_times(
    name: &str,
    builds: &Builds,
    command: impl Fn(&Path) -> Outcome<Command>,
) -> Outcome<()> {
    let (mut with, mut without) = (Times::none(), Times::none());
    for _ in 0..ROUNDS {
        with.add(|| succeed(command(&builds.with)?))?;
        without.add(|| succeed(command(&builds.without)?))?;
    }
    let figure = format!("{}; the fleet {}", with.text(), over(with.beside(&without)));
    row(name, &figure, "");
    Ok(())
}

/// Compares the highest memory of each process of a run. A turn that waits keeps every process in
/// sight at its full size.
fn compare_memory(stage: &Stage, builds: &Builds) -> Outcome<()> {
    let [with, without] = [&builds.with, &builds.without].map(|program| {
        let mut command = delegate(stage, program, 300)?;
        watch(command.stderr(Stdio::null()).spawn()?)
    });
    let (with, without) = (with?, without?);
    if !(with.status.success() && without.status.success()) {
        return Err("a watched run has failed".into());
    }
    for role in ["owner", "keeper", "agent"] {
        let name = format!("highest memory of the {role}");
        row(&name, &compared(with.peak(role), without.peak(role)), "");
        let own = compared(with.own(role), without.own(role));
        row("  without the pages of the program file", &own, "");
    }
    Ok(())
}

fn delegate(stage: &Stage, program: &Path, delay_ms: u32) -> Outcome<Command> {
    let script = stage.write(&format!("one-{delay_ms}.json"), &script(delay_ms))?;
    let model = format!("scripted/{}", script.display());
    let mut command = stage.other(program);
    command.args(["delegate", "--task", "a=hi", "--runner", "embedded"]);
    command.args(["--model", &model]);
    Ok(command)
}

/// Formats two sizes in kilobytes and their ratio.
fn compared(with: u64, without: u64) -> String {
    let ratio = as_float(with) / as_float(without.max(1));
    format!("{}; the fleet {}", megabytes(with), over(ratio))
}
