//! Review: eight results in a repository of three thousand files, and the first difference of a result
//! with two thousand changed files.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::figures::{Times, heading, row};
use super::stage::{Stage, succeed};
use super::worktrees::delegate_with;
use crate::Outcome;

/// The script that makes the repository.
const PROJECT: &str = include_str!("../../../testkit/src/review_project.sh");

const FILES: &str = "3000";
const ROUNDS: usize = 5;

/// The names of the results, and what each does.
const EIGHT: [&str; 8] = [
    "docs", "api", "ui", "strict", "bools", "bump", "claim", "tidy",
];

/// The time that a screen may take to show something.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) fn measure() -> Outcome<()> {
    heading("Review in a repository with 3,000 files");
    let stage = Stage::new()?;
    make_project(&stage)?;
    succeed(delegate_with(&stage, &EIGHT, "worktree", work)?)?;
    let (mut listed, mut accepted, mut undone) = (Times::none(), Times::none(), Times::none());
    for _ in 0..ROUNDS {
        listed.add(|| succeed(stage.command(&["review", "--json"])?))?;
        let take = ["review", "--accept-all", "--gate", "sh tests.sh"];
        accepted.add(|| end(stage.command(&take)?))?;
        undone.add(|| succeed(stage.command(&["undo"])?))?;
    }
    row("the queue of 8 results", &listed.text(), "");
    row("accept-all, with its gates", &accepted.text(), "");
    row("undo", &undone.text(), "");
    let discard = [&["discard"][..], &EIGHT, &["--yes"]].concat();
    succeed(stage.command(&discard)?)?;
    let many = |_: usize| "sed -i s/two/TWO/ src/part-[1-4]?/*.txt".to_owned();
    succeed(delegate_with(&stage, &["many"], "worktree", many)?)?;
    let mut shown = Times::none();
    for _ in 0..ROUNDS {
        shown.push(first_difference(&stage)?);
    }
    row("the first of 2,000 differences", &shown.text(), "");
    Ok(())
}

/// Returns the command of a result.
fn work(number: usize) -> String {
    let commands = [
        "mkdir docs; echo guide > docs/guide.txt",
        "sed -i s/two/TWO/ src/app.txt src/part-7/file-35?.txt",
        "sed -i s/two/zwei/ src/app.txt; seq 40 >> src/app.txt",
        "echo strict=on >> src/strict.txt",
        "echo answer=yes >> src/bools.txt; seq 9 >> src/bools.txt",
        "echo two 2.0 >> Cargo.lock",
        "echo six >> src/claim.txt",
        "git rm -q src/old.txt",
    ];
    commands[number].to_owned()
}

fn make_project(stage: &Stage) -> Outcome<()> {
    let script = stage.write("project.sh", PROJECT)?;
    let mut init = stage.other(Path::new("git"));
    init.args(["init", "-q", "-b", "main"]);
    succeed(init)?;
    let mut make = stage.other(Path::new("sh"));
    make.arg(script).arg(FILES);
    succeed(make)
}

/// Runs a command to its end. What is left out is an exit code of its own.
fn end(mut command: Command) -> Outcome<()> {
    command.output()?;
    Ok(())
}

/// Opens the only result on the screen of `review`, in a terminal of `script`, and returns the time from
/// the start to its first difference.
fn first_difference(stage: &Stage) -> Outcome<Duration> {
    let seen = stage.path("seen");
    // An earlier one may be there.
    _ = fs::remove_file(&seen);
    let program = stage.program()?;
    let shell = format!("stty rows 24 cols 80; exec {} review", program.display());
    let mut terminal = stage.other(Path::new("script"));
    terminal.args(["-q", "-f", "-c", &shell]).arg(&seen);
    terminal.env("TERM", "xterm").stdin(Stdio::piped());
    let begun = Instant::now();
    let mut terminal = Screen(terminal.spawn()?);
    wait_for(&seen, "many")?;
    terminal.press("\n")?;
    wait_for(&seen, "TWO")?;
    let took = begun.elapsed();
    terminal.press("q")?;
    terminal.0.wait()?;
    Ok(took)
}

/// A terminal with the screen. It ends with the measurement.
struct Screen(Child);

impl Screen {
    fn press(&mut self, keys: &str) -> Outcome<()> {
        let keyboard = self
            .0
            .stdin
            .as_mut()
            .ok_or("the terminal has no keyboard")?;
        keyboard.write_all(keys.as_bytes())?;
        Ok(keyboard.flush()?)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // It may have ended.
        _ = self.0.kill();
    }
}

fn wait_for(seen: &Path, words: &str) -> Outcome<()> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        let text = fs::read(seen).unwrap_or_default();
        if String::from_utf8_lossy(&text).contains(words) {
            return Ok(());
        }
        sleep(Duration::from_millis(2));
    }
    Err(format!("the screen never showed {words}").into())
}
