//! `attach` in a shell with job control: it pauses and goes on like any other program.

use std::path::Path;
use std::time::Duration;

use pi_subagents_testkit::process::{descendants, is_stopped, kill, name};
use pi_subagents_testkit::{Signal, wait_until};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::stage::Stage;
use crate::terminal::Terminal;

const PATIENCE: Duration = Duration::from_mins(1);

const CTRL_Z: &str = "\x1a";

/// Starts a shell that has the terminal as its own, and `attach` in it after one run.
fn shell_with_attach(stage: &Stage) -> Terminal {
    let script = json!({"rules": [{"turns": [{"text": "You said: {{prompt}}"}]}]});
    stage
        .sandbox
        .write("project/talk.json", &script.to_string());
    let options = ["--runner", "embedded", "--model", "scripted/talk.json"];
    let delegate = stage.command(&["delegate", "-q", "--task", "past=Say hello"]);
    delegate.args(options).run().expect_success();
    let shell = stage
        .sandbox
        .command(Path::new("setsid"))
        .args(["--ctty", "--", "sh", "-i"])
        .env("PS1", "shell> ");
    let mut terminal = Terminal::start_sized(shell, 100, 20);
    terminal.wait_for("shell>");
    let binary = env!("CARGO_BIN_EXE_pi-subagents");
    terminal.press(&format!("{binary} attach\r"));
    terminal.wait_for("You said: Say hello");
    terminal
}

/// The process of `attach` below the shell.
fn attach_process(terminal: &Terminal) -> u32 {
    let found = wait_until(PATIENCE, || {
        let below = descendants(terminal.process());
        let mut below = below.into_iter();
        below.find(|pid| name(*pid).is_some_and(|name| name.starts_with("pi-subagents")))
    });
    found.unwrap()
}

/// Waits until the shell has reported the stop this number of times, and goes on with it.
#[track_caller]
fn goes_on(terminal: &mut Terminal, times: usize) {
    terminal.wait_for_screen(|screen| screen.matches("Stopped").count() == times);
    // The shell has its terminal back: typed letters are shown, and lines are read.
    assert!(terminal.is_as_it_was(), "the terminal is not as it was");
    terminal.press(&format!("echo still $((40 + {times}))\r"));
    terminal.wait_for(&format!("still {}", 40 + times));
    terminal.press("fg\r");
    terminal.wait_for("> ✓  past");
    // Keys are keys again.
    terminal.press("?");
    terminal.wait_for("Keys in the list");
    terminal.press("?");
    terminal.wait_for("> ✓  past");
}

/// Leaves `attach`, and then the shell.
#[track_caller]
fn leaves(mut terminal: Terminal) {
    terminal.press("q");
    terminal.wait_for_screen(|screen| screen.ends_with("shell>"));
    terminal.press("exit\r");
    assert_eq!(terminal.leave(), (Some(0), true));
}

#[test]
fn ctrl_z_pauses_and_fg_goes_on() {
    let stage = Stage::new();
    let mut terminal = shell_with_attach(&stage);
    for times in 1..=2 {
        terminal.press(CTRL_Z);
        goes_on(&mut terminal, times);
    }
    leaves(terminal);
}

#[test]
fn a_stop_from_outside_is_survived() {
    let stage = Stage::new();
    let mut terminal = shell_with_attach(&stage);
    let attach = attach_process(&terminal);
    kill(attach, Signal::TSTP);
    goes_on(&mut terminal, 1);
    // Nothing can be prepared for this signal, so the screen is not given back.
    kill(attach, Signal::STOP);
    terminal.wait_for("Stopped");
    assert!(is_stopped(attach));
    // The key for Enter is not translated while the terminal is as we left it.
    terminal.press("fg\n");
    terminal.wait_for_screen(|screen| !screen.contains("Stopped"));
    terminal.press("?");
    terminal.wait_for("Keys in the list");
    terminal.press("?");
    terminal.wait_for("> ✓  past");
    leaves(terminal);
}
