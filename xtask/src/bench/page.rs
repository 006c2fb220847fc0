//! The web page in a real browser: first frame, memory, a very long run, an idle page, many tabs,
//! many runs at work.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::figures::{heading, row};
use super::past_runs::write_runs;
use super::stage::Stage;
use crate::Outcome;
use crate::browser;
use crate::machine::{program, target};

/// The turns of the long run, each of four events.
const TURNS: usize = 25_000;

/// The runs at work at once, and how often one of them writes something.
const RUNNING: usize = 200;
const UPDATE: Duration = Duration::from_millis(50);

pub(super) fn measure() -> Outcome<()> {
    heading("The web page with 10,000 runs in the index");
    browser::install()?;
    let stage = Stage::new()?;
    write_runs(&stage)?;
    write_long_run(&stage)?;
    let mut server = Server::start(&stage)?;
    let long = run_name(0);
    server.play("still", &long)?;
    let events = write_running(&stage)?;
    let is_over = Arc::new(AtomicBool::new(false));
    let writing = thread::spawn({
        let is_over = Arc::clone(&is_over);
        move || write_on(&events, &is_over)
    });
    let played = server.play("busy", &long);
    is_over.store(true, Ordering::Relaxed);
    _ = writing.join();
    played
}

/// A page that is served.
struct Server {
    process: Child,
    url: String,
    /// The token that every tab begins with: the code in the address is good for one of them.
    token: String,
}

impl Server {
    fn start(stage: &Stage) -> Outcome<Self> {
        let mut command = stage.command(&["web", "--port", "0", "--all"])?;
        let mut process = command.stdout(Stdio::piped()).spawn()?;
        let mut url = String::new();
        if let Some(stdout) = process.stdout.take() {
            BufReader::new(stdout).read_line(&mut url)?;
        }
        let url = url.trim().to_owned();
        let token = fs::read_to_string(stage.agent_dir().join("subagents-web-token"))?;
        let token = token.trim().to_owned();
        Ok(Self {
            process,
            url,
            token,
        })
    }

    /// Plays a scene in the browser, and prints the figures that it has seen.
    fn play(&mut self, scene: &str, long: &str) -> Outcome<()> {
        let modules = target()?.join("playwright/package.json");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bench/page.mjs");
        let mut command: Command = program("node");
        let pid = self.process.id().to_string();
        command
            .arg(script)
            .args([scene, &self.url, long, &pid])
            .arg(modules)
            .arg(&self.token)
            .stderr(Stdio::inherit());
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        for line in text.lines() {
            let mut fields = line.split('\t');
            let mut next = || fields.next().unwrap_or_default();
            row(next(), next(), next());
        }
        if output.status.success() {
            Ok(())
        } else {
            Err(format!("the browser could not be measured ({})", output.status).into())
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

fn run_name(number: usize) -> String {
    format!("20260101-000000-000-{number:06x}")
}

fn directory(stage: &Stage, run: &str) -> Outcome<PathBuf> {
    let project = fs::canonicalize(stage.project())?;
    Ok(project.join(".pi/subagents/runs").join(run))
}

/// Gives the oldest run a record of 100,000 events.
fn write_long_run(stage: &Stage) -> Outcome<()> {
    let mut events = String::from(
        "{\"type\":\"run_started\",\"at\":\"2026-01-01T00:00:00Z\",\"runner\":\"embedded\",\"child\":1,\"keeper\":1}\n",
    );
    for turn in 0..TURNS {
        let at = format!(
            "2026-01-01T{:02}:{:02}:{:02}.000Z",
            turn / 3600,
            turn / 60 % 60,
            turn % 60
        );
        write_turn(&mut events, turn, &at)?;
    }
    events.push_str("{\"type\":\"run_ended\",\"at\":\"2026-01-01T07:00:00Z\",\"status\":\"completed\",\"exitCode\":0}\n");
    fs::write(directory(stage, &run_name(0))?.join("events.jsonl"), events)?;
    Ok(())
}

/// Writes a turn with one call, as a child tells it.
fn write_turn(events: &mut String, turn: usize, at: &str) -> Outcome<()> {
    let call = format!(
        r#"{{"type":"toolCall","id":"c{turn}","name":"bash","arguments":{{"command":"make part-{turn}"}}}}"#
    );
    writeln!(events, r#"{{"type":"run_at","at":"{at}"}}"#)?;
    let said = format!(r#"{{"type":"text","text":"Step {turn} of many, and `code` with it."}}"#);
    writeln!(
        events,
        r#"{{"type":"message_end","message":{{"role":"assistant","content":[{said},{call}],"usage":{{"input":10,"output":2}}}}}}"#
    )?;
    writeln!(
        events,
        r#"{{"type":"tool_execution_start","toolCallId":"c{turn}","toolName":"bash","args":{{}}}}"#
    )?;
    writeln!(
        events,
        r#"{{"type":"tool_execution_end","toolCallId":"c{turn}","toolName":"bash","isError":false,"result":{{"content":[]}}}}"#
    )?;
    writeln!(
        events,
        r#"{{"type":"message_end","message":{{"role":"toolResult","toolCallId":"c{turn}","toolName":"bash","isError":false,"content":[{{"type":"text","text":"built part {turn}\n"}}]}}}}"#
    )?;
    Ok(())
}

/// Adds runs that this process owns, and returns their records.
fn write_running(stage: &Stage) -> Outcome<Vec<PathBuf>> {
    let (pid, host) = (
        std::process::id(),
        fs::read_to_string("/proc/sys/kernel/hostname")?,
    );
    let (start, host) = (start_time()?, host.trim());
    let project = fs::canonicalize(stage.project())?;
    let project = project.display();
    let owner = format!(r#"{{"pid":{pid},"startTime":{start},"host":"{host}","socket":null}}"#);
    let (mut index, mut records) = (String::new(), Vec::new());
    for number in 0..RUNNING {
        let run = run_name(1_000_000 + number);
        let directory = directory(stage, &run)?;
        fs::create_dir_all(&directory)?;
        let place = directory.display();
        let what = format!(
            r#""name":"run-{number}","project":"{project}","acceptedAt":"2026-01-02T00:00:00Z","owner":{owner}"#
        );
        let sequence = 1_000_000 + number;
        writeln!(
            index,
            r#"{{"run":"{run}","session":"{number:016x}","directory":"{place}","sequence":{sequence},{what}}}"#
        )?;
        fs::write(
            directory.join("meta.json"),
            format!(
                r#"{{"format":1,"runId":"{run}","sessionId":"{number:016x}","prompt":"hi","cwd":"{project}",{what}}}"#
            ),
        )?;
        let events = directory.join("events.jsonl");
        fs::write(
            &events,
            "{\"type\":\"run_started\",\"at\":\"2026-01-02T00:00:00Z\",\"runner\":\"embedded\",\"child\":1,\"keeper\":1}\n",
        )?;
        records.push(events);
    }
    let file = stage.agent_dir().join("subagents-index.jsonl");
    OpenOptions::new()
        .append(true)
        .open(file)?
        .write_all(index.as_bytes())?;
    Ok(records)
}

/// Writes a turn of one run after the other, until told to end.
fn write_on(records: &[PathBuf], is_over: &AtomicBool) {
    for turn in 0.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let mut text = String::new();
        let path = &records[turn % records.len()];
        // A record that cannot be written is seen in the figures.
        _ = write_turn(&mut text, turn, "2026-01-02T00:00:01Z");
        if let Ok(mut file) = OpenOptions::new().append(true).open(path) {
            _ = file.write_all(text.as_bytes());
        }
        thread::sleep(UPDATE);
    }
}

/// Returns when this process began, as the kernel counts it.
fn start_time() -> Outcome<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let behind = stat.rsplit(')').next().unwrap_or_default();
    let field = behind.split_whitespace().nth(19).ok_or("no start time")?;
    Ok(field.parse()?)
}
