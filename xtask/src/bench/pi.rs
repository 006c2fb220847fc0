//! The same work by real pi, for the ratios.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::figures::{Times, as_float, heading, megabytes, over, row};
use super::processes::watch;
use super::scripted_server::{Encryption, ScriptedServer};
use super::stage::{Stage, succeed};
use crate::Outcome;
use crate::machine::variable;
use crate::real_pi;

const ROUNDS: usize = 16;
/// So many are started at once for the second comparison.
const TOGETHER: usize = 4;

/// A call of so many tasks, of which four run at once, is measured so many times.
const TASKS_OF_LINE: usize = 16;
const ROUNDS_OF_LINE: usize = 5;
/// Each of its tasks asks the model so often, and waits so long for each answer.
const TURNS: usize = 4;
const TURN_MS: usize = 500;

/// A pi, and the PATH on which it finds its Node.
pub(super) struct Pi {
    pub(super) program: PathBuf,
    pub(super) path: OsString,
}

/// Finds pi, or installs it by name if that is wanted.
pub(super) fn find(install: bool) -> Outcome<Option<Pi>> {
    let path = variable("PATH").unwrap_or_default();
    let on_path = || env::split_paths(&path).map(|directory| directory.join("pi"));
    let named = variable("PI_SUBAGENTS_PI").map(PathBuf::from);
    let found = named.or_else(|| on_path().find(|candidate| candidate.is_file()));
    match found {
        Some(program) => Ok(Some(Pi { program, path })),
        None if install => installed(&path).map(Some),
        None => Ok(None),
    }
}

fn installed(path: &OsString) -> Outcome<Pi> {
    let real = real_pi::install()?;
    let paths = [real.node].into_iter().chain(env::split_paths(path));
    Ok(Pi {
        program: real.program,
        path: env::join_paths(paths)?,
    })
}

/// Prints how pi, delegated pi and the embedded agent compare on the same server.
pub(super) fn compare(pi: &Pi) -> Outcome<()> {
    heading("One turn against the same server: pi by hand, pi delegated to, embedded");
    let stage = Stage::new()?;
    let server = ScriptedServer::start(&stage, Encryption::Without)?;
    stage.write("home/.pi/agent/models.json", &server.models_file())?;
    // The first start fills caches of the system and of pi, and asks pi for its version.
    succeed(delegate(&stage, pi, "pi", 1)?)?;
    compare_times(&stage, pi, 1)?;
    compare_times(&stage, pi, TOGETHER)?;
    compare_memory(&stage, pi)?;
    measure_line(pi)
}

/// A call whose tasks wait for four places. Each task asks its model four times, and each answer takes
/// half a second.
pub(super) struct Line<'a> {
    stage: Stage,
    pi: &'a Pi,
    /// It ends with the line.
    _server: ScriptedServer,
}

impl<'a> Line<'a> {
    /// Starts the server, and a pi that fills the caches.
    pub(super) fn start(stage: Stage, pi: &'a Pi) -> Outcome<Self> {
        let server = ScriptedServer::with(&stage, &script_of_line(), Encryption::Without)?;
        stage.write("home/.pi/agent/models.json", &server.models_file())?;
        succeed(delegate_line(&stage, pi, 1)?)?;
        Ok(Self {
            stage,
            pi,
            _server: server,
        })
    }

    /// Returns the time that the call takes.
    pub(super) fn once(&self) -> Outcome<Duration> {
        let begun = Instant::now();
        succeed(delegate_line(&self.stage, self.pi, TASKS_OF_LINE)?)?;
        let took = begun.elapsed();
        self.stage.clear()?;
        Ok(took)
    }
}

fn measure_line(pi: &Pi) -> Outcome<()> {
    let line = Line::start(Stage::new()?, pi)?;
    let mut times = Times::none();
    for _ in 0..ROUNDS_OF_LINE {
        times.push(line.once()?);
    }
    let waits = TASKS_OF_LINE / TOGETHER * TURNS;
    row(
        &format!("{TASKS_OF_LINE} tasks, {TOGETHER} at once, {TURNS} turns of {TURN_MS} ms"),
        &times.text(),
        &format!("10,500 ms, {} of which wait for the model", waits * TURN_MS),
    );
    Ok(())
}

/// Writes a script in which each task has turns of its own.
fn script_of_line() -> String {
    // The same call three times would be a loop.
    let call = |turn: usize| {
        format!(
            r#"{{"delayMs": {TURN_MS}, "toolCalls": [{{"name": "bash", "arguments": {{"command": "echo {turn}"}}}}]}}"#
        )
    };
    let answer = format!(r#"{{"delayMs": {TURN_MS}, "text": "Done."}}"#);
    let turns: Vec<String> = (1..TURNS).map(call).chain([answer]).collect();
    let turns = turns.join(", ");
    let rules = (0..TASKS_OF_LINE).map(|number| {
        format!(
            r#"{{"user": "{}", "turns": [{turns}], "repeat": true}}"#,
            prompt(number)
        )
    });
    let rules: Vec<String> = rules.collect();
    format!(r#"{{"rules": [{}]}}"#, rules.join(", "))
}

fn prompt(number: usize) -> String {
    format!("word{number:02}")
}

fn delegate_line(stage: &Stage, pi: &Pi, tasks: usize) -> Outcome<Command> {
    let mut command = stage.command(&["delegate", "--quiet", "--model", "fake/fake-model"])?;
    command
        .args(["--runner", "pi", "--concurrency", &TOGETHER.to_string()])
        .args((0..tasks).map(|number| format!("--task=task{number}={}", prompt(number))))
        .env("PATH", &pi.path)
        .env("PI_SUBAGENTS_PI", absolute(&pi.program)?);
    Ok(command)
}

fn compare_times(stage: &Stage, pi: &Pi, together: usize) -> Outcome<()> {
    let (mut by_hand, mut delegated, mut embedded) = (Times::none(), Times::none(), Times::none());
    // In turns, so that disturbances of the machine disturb all three.
    for round in 0..ROUNDS {
        let mut by_hand = || by_hand.add(|| by_hand_at_once(stage, pi, together));
        let mut delegated = || delegated.add(|| succeed(delegate(stage, pi, "pi", together)?));
        // Neither of the two is always behind the embedded one.
        if round % 2 == 0 {
            by_hand()?;
            delegated()?;
        } else {
            delegated()?;
            by_hand()?;
        }
        embedded.add(|| succeed(delegate(stage, pi, "embedded", together)?))?;
        stage.clear()?;
    }
    row(
        &format!("{together} at once: pi by hand"),
        &by_hand.text(),
        "",
    );
    row(
        &format!("{together} at once: delegating to pi"),
        &delegated.text(),
        "",
    );
    row(
        &format!("{together} at once: embedded"),
        &embedded.text(),
        "",
    );
    let cost = over(delegated.beside(&by_hand));
    row("  delegating costs", &cost, "5 %");
    let part = format!("1/{:.1} of pi by hand", by_hand.beside(&embedded));
    row("  embedded takes", &part, "1/25");
    Ok(())
}

fn compare_memory(stage: &Stage, pi: &Pi) -> Outcome<()> {
    let peak = |runner: &str, role: &str| -> Outcome<u64> {
        let mut command = delegate(stage, pi, runner, 1)?;
        let watched = watch(command.stderr(Stdio::null()).spawn()?)?;
        Ok(watched.peak(role))
    };
    let (node, agent) = (peak("pi", "child")?, peak("embedded", "embedded")?);
    let keeper = peak("embedded", "keeper")?;
    row("highest memory of pi", &megabytes(node), "");
    row(
        "highest memory of the embedded agent",
        &megabytes(agent),
        "",
    );
    let part =
        |kilobytes: u64| format!("1/{:.1} of pi", as_float(node) / as_float(kilobytes.max(1)));
    row("  embedded takes", &part(agent), "1/12");
    row("  with its keeper", &part(agent + keeper), "");
    Ok(())
}

/// Does by hand the work of a delegation: a pi in RPC mode with a session file, one prompt, its
/// end.
fn by_hand_at_once(stage: &Stage, pi: &Pi, together: usize) -> Outcome<()> {
    let mut started = Vec::new();
    for number in 0..together {
        let session = stage.path(&format!("project/by-hand-{number}.jsonl"));
        let mut child = stage
            .other(&pi.program)
            .args([
                "--mode",
                "rpc",
                "--no-approve",
                "--model",
                "fake/fake-model",
                "--session",
            ])
            .arg(session)
            .env("PATH", &pi.path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdin = child.stdin.as_mut().ok_or("pi has no stdin")?;
        stdin.write_all(b"{\"id\":\"1\",\"type\":\"prompt\",\"message\":\"hi\"}\n")?;
        started.push(child);
    }
    for mut child in started {
        let stdout = child.stdout.take().ok_or("pi has no stdout")?;
        let settled = |line: &std::io::Result<String>| {
            line.as_ref()
                .is_ok_and(|line| line.contains("\"type\":\"agent_settled\""))
        };
        let mut lines = BufReader::new(stdout).lines();
        lines.find(settled).ok_or("pi by hand did not settle")??;
        drop(child.stdin.take());
        child.wait()?;
    }
    Ok(())
}

pub(super) fn delegate(stage: &Stage, pi: &Pi, runner: &str, together: usize) -> Outcome<Command> {
    let mut command = stage.command(&["delegate", "--quiet", "--model", "fake/fake-model"])?;
    command
        .args(["--runner", runner, "--concurrency", &together.to_string()])
        .args((0..together).map(|number| format!("--task=task{number}=hi")))
        .env("PATH", &pi.path)
        .env("PI_SUBAGENTS_PI", absolute(&pi.program)?);
    Ok(command)
}

/// Returns an absolute path, because the measured command runs in another directory.
fn absolute(path: &Path) -> Outcome<PathBuf> {
    Ok(std::path::absolute(path)?)
}
