//! Measures the work of an owner that follows children with a lot of output.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::figures::{heading, row};
use super::processes::processor_time;
use super::stage::{Stage, shipped};
use crate::Outcome;

const CHILDREN: usize = 16;

/// Each child prints 12.5 messages a second, all together print 200.
const PAUSE_MS: u32 = 80;

/// The time that all children take to start.
const SETTLING: Duration = Duration::from_secs(2);

/// The time for which the owner is looked at.
const MEASURED: Duration = Duration::from_secs(5);

/// The number of messages of each child. They last a little longer than the measurement.
const SAYINGS: usize = 110;

/// A whole message, as a step of a script.
const MESSAGE: &str = r#"{\"say\":\"I have found one more place where a name is wrong.\"}"#;

/// A few words of a message that never ends.
const WORDS: &str = r#"{\"record\":{\"type\":\"message_update\",\"usage\":{\"input\":100,\"output\":10,\"cacheRead\":0,\"cacheWrite\":0,\"reasoning\":0,\"totalTokens\":110,\"cost\":{\"input\":0.0003,\"output\":0.00015,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0.00045}},\"assistantMessageEvent\":{\"type\":\"text_delta\",\"contentIndex\":0,\"delta\":\"one more place, \"}}}"#;

const BUDGET: &str = "5 % of one core";

pub(super) fn measure() -> Outcome<()> {
    heading("Following 16 children that say 200 things a second together");
    let stage = Stage::new()?;
    let messages = stage.write("messages.json", &call(MESSAGE))?;
    let words = stage.write("words.json", &call(WORDS))?;
    let start = |call: &Path, more: &[&str]| -> Outcome<Command> {
        let mut command = stage.command(&["delegate", "--runner", "pi", "--concurrency", "16"])?;
        command
            .args(more)
            .arg(call)
            .env("PI_SUBAGENTS_PI", shipped("misbehave")?)
            .env("TERM", "xterm-256color")
            .stderr(Stdio::null());
        Ok(command)
    };
    share_of_core("nobody watches", start(&messages, &["--quiet"])?)?;
    share_of_core("one line per change", start(&messages, &[])?)?;
    let json = ["--quiet", "--json-stream"];
    share_of_core("events as JSON", start(&messages, &json)?)?;
    let mut live = start(&messages, &[])?;
    live.stderr(terminal()?);
    share_of_core("live windows of 120 × 60", live)?;
    inside_pi("windows inside pi", &stage, MESSAGE, false)?;
    inside_pi("windows inside pi, expanded", &stage, MESSAGE, true)?;
    share_of_core("words, nobody watches", start(&words, &["--quiet"])?)?;
    let mut live = start(&words, &[])?;
    live.stderr(terminal()?);
    share_of_core("words, live windows of 120 × 60", live)?;
    inside_pi("words, windows inside pi", &stage, WORDS, false)
}

/// Measures the same call through the door of pi, whose end of the wire reads all updates.
fn inside_pi(name: &str, stage: &Stage, saying: &str, expanded: bool) -> Outcome<()> {
    let settings = r#"{"subagents": {"runner": "pi", "maxConcurrency": 16}}"#;
    fs::write(stage.agent_dir().join("settings.json"), settings)?;
    let mut host = stage
        .command(&["host"])?
        .env("PI_SUBAGENTS_PI", shipped("misbehave")?)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (wire, said) = host.stdin.take().zip(host.stdout.take()).ok_or("no wire")?;
    let reader = thread::spawn(move || drain(said));
    send_messages(&wire, stage, &call(saying), expanded)?;
    let share = share_while_at_work(&host);
    // The host ends when its pi is gone.
    drop(wire);
    expect_success(&mut host)?;
    reader.join().map_err(|_| "the reader panicked")??;
    row(name, &format!("{share:.1} % of one core"), BUDGET);
    Ok(())
}

/// Sends the messages of the shim, written by hand because this crate knows no JSON.
fn send_messages(mut wire: &ChildStdin, stage: &Stage, call: &str, expanded: bool) -> Outcome<()> {
    let caller = format!(
        r#"{{"cwd": "{}", "mode": "tui", "hasUI": true, "columns": 120, "trusted": true, "hasTrustQuestion": false, "models": [], "activeTools": [], "skills": []}}"#,
        stage.project().display()
    );
    writeln!(
        wire,
        r#"{{"jsonrpc": "2.0", "id": 1, "method": "tool/execute", "params": {{"callId": "c", "tool": "delegate_to_subagents", "arguments": {call}, "caller": {caller}}}}}"#
    )?;
    writeln!(
        wire,
        r#"{{"jsonrpc": "2.0", "method": "tool/expand", "params": {{"callId": "c", "expanded": {expanded}}}}}"#
    )?;
    Ok(())
}

/// Writes the call of the delegation tool by hand, because this crate knows no JSON.
fn call(saying: &str) -> String {
    let step = format!(r#"{saying},{{\"sleepMs\":{PAUSE_MS}}},"#);
    let script = format!(r#"[{}{{\"reply\":\"ok\"}}]"#, step.repeat(SAYINGS));
    let tasks: Vec<String> = (0..CHILDREN)
        .map(|number| format!(r#"{{"name": "child{number}", "prompt": "{script}"}}"#))
        .collect();
    format!(r#"{{"tasks": [{}]}}"#, tasks.join(","))
}

/// Looks at the processor time of an owner while its children are at work.
fn share_of_core(name: &str, mut command: Command) -> Outcome<()> {
    let mut owner = command.spawn()?;
    // The slave of a terminal is held by the command as long as it lives.
    drop(command);
    let share = share_while_at_work(&owner);
    expect_success(&mut owner)?;
    row(name, &format!("{share:.1} % of one core"), BUDGET);
    Ok(())
}

/// Returns the share of a processor that a process takes while it works, in percent.
fn share_while_at_work(owner: &Child) -> f64 {
    thread::sleep(SETTLING);
    let (begun, before) = (Instant::now(), processor_time(owner.id()));
    thread::sleep(MEASURED);
    let (lasted, after) = (begun.elapsed(), processor_time(owner.id()));
    after.saturating_sub(before).as_secs_f64() / lasted.as_secs_f64() * 100.0
}

fn expect_success(owner: &mut Child) -> Outcome<()> {
    let status = owner.wait()?;
    if status.success() {
        return Ok(());
    }
    Err(format!("the delegation ended with {status}").into())
}

/// Opens a new pseudo-terminal that somebody reads, and returns its slave.
fn terminal() -> Outcome<Stdio> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let size = Winsize {
        ws_col: 120,
        ws_row: 60,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&master, size)?;
    let name = ptsname(&master, Vec::new())?;
    let slave = File::options()
        .read(true)
        .write(true)
        .open(Path::new(name.to_str()?))?;
    let shown = File::from(master);
    // Reading fails once no process holds the slave any more.
    thread::spawn(move || drain(shown));
    Ok(slave.into())
}

fn drain(mut output: impl Read) -> io::Result<()> {
    let mut bytes = vec![0; 64 << 10];
    while output.read(&mut bytes)? > 0 {}
    Ok(())
}
