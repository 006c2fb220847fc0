//! Measures the cost of a fleet. A program of its own measures what is said to servers; whole calls
//! are measured here, as a user makes them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::figures::{Times, heading, row};
use super::stage::{Stage, succeed};
use crate::Outcome;
use crate::machine::{program, target};
use crate::nats;

/// The number of calls that are made.
const ROUNDS: usize = 8;

/// The numbers of files and of commits in the repository.
const FILES: usize = 605;
const COMMITS: usize = 60;

/// The longest time that a server or a worker may take to begin.
const PATIENCE: Duration = Duration::from_secs(30);

/// Fetches the server, and measures.
pub(super) fn measure() -> Outcome<()> {
    let server = nats::install()?;
    calls(&server)?;
    super::build(
        "build --profile dist --locked --package pi-subagents-fleet-queue --example fleet_bench",
    )?;
    println!();
    let measuring = target()?.join("dist/examples/fleet_bench");
    let status = program(measuring).status()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("fleet_bench ({status})").into())
}

/// Measures calls on a repository with changes that are not committed.
fn calls(server: &Path) -> Outcome<()> {
    heading("Calls to a fleet, on one machine");
    let stage = Stage::new()?;
    let full = make_repository(&stage)?;
    let _server = Ended(start_server(&stage, server)?);
    succeed(stage.command(&["fleet", "init"])?)?;
    let mut worker = stage.command(&["fleet", "work", "--name", "bench"])?;
    let _worker = Ended(worker.stderr(Stdio::null()).spawn()?);
    wait_for("a worker", || {
        let listed = stage
            .command(&["fleet", "workers", "--json"])?
            .stdout(Stdio::piped())
            .output()?;
        Ok(String::from_utf8_lossy(&listed.stdout).contains("bench"))
    })?;
    let cold = Times::of(1, || succeed(call(&stage, "fleet")?))?;
    row("the first call, with 50 commits", &cold.text(), "");
    let (mut warm, mut local) = (Times::none(), Times::none());
    for _ in 0..ROUNDS {
        warm.add(|| succeed(call(&stage, "fleet")?))?;
        local.add(|| succeed(call(&stage, "local")?))?;
    }
    row("a warm call to the fleet", &warm.text(), "");
    row("the same on this machine", &local.text(), "");
    let ratio = warm.beside(&local);
    row("warm fleet / local", &format!("{ratio:.2}"), "1.4");
    // The fleet has everything of the last call: one more changed file travels.
    write_file(&stage.project(), 2, COMMITS)?;
    let thin = bytes_to_send(&stage)?;
    row(
        "a full bundle of the repository",
        &format!("{full} bytes"),
        "",
    );
    row(
        "what a call sends for one changed file",
        &format!("{thin} bytes"),
        "",
    );
    let times = full / thin.max(1);
    row("thin bundle / full bundle", &format!("1/{times}"), "1/50");
    Ok(())
}

/// A process that is killed when it is dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// Returns a call whose child reads for a second and a half, as the fastest real one does.
fn call(stage: &Stage, place: &str) -> Outcome<Command> {
    let script = stage.write("turn.json", &super::one_turn::script(1500))?;
    let model = format!("scripted/{}", script.display());
    stage.command(&[
        "run", "hello", "--on", place, "--runner", "embedded", "--model", &model,
    ])
}

/// Starts a server, and names it in the settings.
fn start_server(stage: &Stage, server: &Path) -> Outcome<Child> {
    let (data, ports) = (stage.path("nats"), stage.path("ports"));
    fs::create_dir_all(&ports)?;
    let child = program(server)
        .args(["-js", "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir"])
        .arg(&ports)
        .arg("-sd")
        .arg(&data)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut url = None;
    wait_for("the server", || {
        let file = fs::read_dir(&ports)?.flatten().next();
        let text = file.and_then(|file| fs::read_to_string(file.path()).ok());
        url = text.and_then(|text| {
            text.split('"')
                .find(|part| part.starts_with("nats://"))
                .map(str::to_owned)
        });
        Ok(url.is_some())
    })?;
    let url = url.unwrap_or_default();
    let settings = format!(r#"{{"subagents": {{"fleet": {{"servers": ["{url}"]}}}}}}"#);
    fs::write(stage.agent_dir().join("settings.json"), settings)?;
    Ok(child)
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> Outcome<bool>) -> Outcome<()> {
    let end = Instant::now() + PATIENCE;
    while !is_there()? {
        if Instant::now() > end {
            return Err(format!("{what} did not begin").into());
        }
        sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Makes a repository with a history and changes that are not committed; returns the size of a
/// bundle of all of it.
fn make_repository(stage: &Stage) -> Outcome<u64> {
    git(stage, &["init", "--quiet"])?;
    let project = stage.project();
    for commit in 0..COMMITS {
        for file in (0..FILES).filter(|file| commit == 0 || file % COMMITS == commit) {
            write_file(&project, file, commit)?;
        }
        git(stage, &["add", "--all"])?;
        git(stage, &["commit", "--quiet", "--message", "more"])?;
    }
    let bundle = stage.path("full.bundle");
    git(
        stage,
        &[
            "bundle",
            "create",
            "--quiet",
            &bundle.display().to_string(),
            "--all",
        ],
    )?;
    write_file(&project, 1, COMMITS)?;
    fs::write(project.join("notes.txt"), "not committed yet\n")?;
    Ok(fs::metadata(bundle)?.len())
}

/// Writes a file of some kilobytes that does not compress to nothing.
fn write_file(project: &Path, file: usize, commit: usize) -> Outcome<()> {
    let directory: PathBuf = project.join(format!("part-{}", file % 20));
    fs::create_dir_all(&directory)?;
    let mut number = file * 7919 + commit * 104_729 + 1;
    let mut text = String::new();
    for line in 0..400 {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        // Writing to a string cannot fail.
        _ = writeln!(text, "line {line} of file {file}: {:016x}", number >> 7);
    }
    fs::write(directory.join(format!("file-{file}.txt")), text)?;
    Ok(())
}

fn git(stage: &Stage, arguments: &[&str]) -> Outcome<()> {
    let mut git = stage.other(Path::new("git"));
    git.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]);
    git.args(arguments);
    succeed(git)
}

/// Returns how many bytes a call would send now.
fn bytes_to_send(stage: &Stage) -> Outcome<u64> {
    let mut dry = stage.command(&["run", "hello", "--on", "fleet", "--dry-run", "--json"])?;
    let output = dry.stdout(Stdio::piped()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = text.split("\"bytes\":").nth(1).map(str::trim_start);
    let number = number.and_then(|rest| rest.split(|letter: char| !letter.is_ascii_digit()).next());
    number
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| format!("--dry-run names no bytes: {text}").into())
}
