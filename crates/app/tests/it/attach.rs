//! `attach` in a terminal: real owners and children in other processes, keys in, a screen out.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::sandbox::{RunningCommand, SandboxCommand};
use pi_subagents_testkit::{Signal, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, call};
use crate::terminal::{CTRL_C, ENTER, Terminal};

const PATIENCE: Duration = Duration::from_mins(1);

/// The number of times that a child says the same.
const TIMES: usize = 1000;

/// A shell command of a child that works until somebody makes the file `go`.
const WORK: &str = "until [ -e go ]; do sleep 0.05; done; echo gone";

/// Makes a sandbox whose embedded children work until a file appears, or repeat their prompt.
fn stage() -> Stage {
    let stage = Stage::new();
    let script = json!({"rules": [
        {"when": "Work", "turns": [
            {"text": "I look around first.", "toolCalls": [{"name": "bash", "arguments": {"command": WORK}}]},
            {"text": "All done."},
        ]},
        {"turns": [{"text": "You said: {{prompt}}"}]},
    ]});
    stage
        .sandbox
        .write("project/talk.json", &script.to_string());
    stage
}

/// `delegate` of embedded children, with a name and a prompt each.
fn delegate(stage: &Stage, tasks: &[&str]) -> SandboxCommand {
    let options = [
        "--runner",
        "embedded",
        "--model",
        "scripted/talk.json",
        "-q",
    ];
    let tasks = tasks.iter().flat_map(|task| ["--task", *task]);
    stage.command(&["delegate"]).args(options).args(tasks)
}

/// Starts children that work, and waits until they do.
fn at_work(stage: &Stage, tasks: &[&str]) -> RunningCommand {
    let owner = delegate(stage, tasks).spawn();
    let working = wait_until(PATIENCE, || {
        let runs = rows(stage);
        let is_working = |run: &Value| {
            let events = format!("{}/events.jsonl", run["directory"].as_str().unwrap());
            fs::read_to_string(events).is_ok_and(|events| events.contains("tool_execution_start"))
        };
        (runs.len() == tasks.len() && runs.iter().all(is_working)).then_some(())
    });
    assert!(working.is_some(), "the children do not work");
    owner
}

fn rows(stage: &Stage) -> Vec<Value> {
    let status = stage.command(&["status", "--json"]).run().json();
    status["runs"].as_array().unwrap().clone()
}

fn let_go(stage: &Stage) {
    stage.sandbox.write("project/go", "");
}

fn attach(stage: &Stage, arguments: &[&str]) -> Terminal {
    attach_sized(stage, arguments, 60, 14)
}

fn attach_sized(stage: &Stage, arguments: &[&str], columns: u16, rows: u16) -> Terminal {
    let command = stage.command(&["attach"]).args(arguments);
    Terminal::start_sized(command, columns, rows)
}

/// A screen without ids and clocks, and without the margins that clocks leave.
fn calm(stage: &Stage, screen: &str) -> String {
    let screen = stage.sandbox.normalise(screen);
    let rows = screen.lines().map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        words.join(" ")
    });
    rows.collect::<Vec<_>>().join("\n")
}

#[test]
fn runs_of_another_terminal_are_seen_live_and_leaving_stops_nothing() {
    let stage = stage();
    delegate(&stage, &["past=Say hello"]).run().expect_success();
    let owner = at_work(&stage, &["reader=Work on this", "writer=Work on that"]);
    let mut terminal = attach(&stage, &[]);
    let screen = terminal.wait_for_screen(|screen| {
        screen.matches("bash → until").count() == 3 && screen.contains("You said: Say hello")
    });
    insta::assert_snapshot!(calm(&stage, &screen));
    terminal.press("j");
    terminal.wait_for("> Work on that");
    let_go(&stage);
    let screen = terminal.wait_for_screen(|screen| {
        let rows: Vec<&str> = screen.lines().collect();
        rows[2].starts_with("> ✓  writer")
            && rows[3].starts_with("  ✓  reader")
            && rows[6].starts_with("✓ writer")
            && screen.matches("All done.").count() == 3
    });
    insta::assert_snapshot!("after_they_ended", calm(&stage, &screen));
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    assert_eq!(owner.wait().code, Some(0));
}

#[test]
fn leaving_in_any_way_gives_the_terminal_back_and_stops_nothing() {
    let stage = stage();
    let owner = at_work(&stage, &["worker=Work"]);
    for key in ["q", "\rqq", CTRL_C] {
        let mut terminal = attach(&stage, &[]);
        terminal.wait_for("bash → until");
        terminal.press(key);
        assert_eq!(terminal.leave(), (Some(0), true), "{key:?}");
    }
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let terminal = attach(&stage, &[]);
        terminal.wait_for("bash → until");
        terminal.signal(signal);
        let code = 128 + signal.as_raw();
        assert_eq!(terminal.leave(), (Some(code), true), "{signal:?}");
    }
    assert_eq!(rows(&stage).len(), 1);
    let_go(&stage);
    assert_eq!(owner.wait().code, Some(0));
}

#[test]
fn a_person_reads_that_a_run_was_ended_without_its_owner() {
    let stage = stage();
    let owner = at_work(&stage, &["worker=Work"]);
    let mut terminal = attach_sized(&stage, &[], 160, 14);
    terminal.wait_for("bash → until");
    owner.kill(Signal::STOP);
    terminal.press("xy");
    terminal.wait_for("is stopped, so the run was ended without it");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    owner.kill(Signal::CONT);
    let _ = owner.wait();
}

#[test]
fn a_run_is_steered_and_stopped_by_keys() {
    let stage = stage();
    let owner = at_work(&stage, &["worker=Work"]);
    let mut terminal = attach(&stage, &[]);
    terminal.wait_for("bash → until");
    // A paste is bracketed; its line break does not send it.
    terminal.press("sThink of \x1b[200~日本\rand tests\x1b[201~");
    terminal.wait_for("Say to worker: Think of 日本⏎and tests");
    terminal.press(ENTER);
    terminal.wait_for("steered: Think of 日本");
    terminal.press("x");
    terminal.wait_for("y stops worker, any other key cancels");
    terminal.press("n");
    terminal.wait_for("It continues.");
    terminal.press("xy");
    let screen = terminal.wait_for_screen(|screen| {
        screen.ends_with("worker was stopped, and all its processes are gone.")
            && screen.starts_with("Sub-agents: 1 stopped")
            && screen.contains("Error: Stopped on request.")
    });
    insta::assert_snapshot!(calm(&stage, &screen));
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    assert_eq!(owner.wait().code, Some(143));
}

#[test]
fn a_run_whose_owner_is_killed_is_shown_as_interrupted() {
    let stage = stage();
    let owner = at_work(&stage, &["worker=Work"]);
    let mut terminal = attach(&stage, &[]);
    terminal.wait_for("bash → until");
    owner.kill(Signal::KILL);
    let screen = terminal.wait_for("Error: Session was interrupted");
    assert!(screen.starts_with("Sub-agents: 1 stopped"), "{screen}");
    terminal.press("r");
    terminal.wait_for("Continue worker:");
    terminal.press(CTRL_C);
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
}

#[test]
fn a_run_whose_record_is_deleted_is_said_to_be_gone() {
    let stage = stage();
    let _owner = at_work(&stage, &["worker=Work"]);
    let directory = rows(&stage)[0]["directory"].as_str().unwrap().to_owned();
    let mut terminal = attach(&stage, &[]);
    terminal.wait_for("bash → until");
    fs::remove_dir_all(directory).unwrap();
    let screen = terminal.wait_for("The record of this run was deleted");
    assert!(screen.contains("I look around first."), "{screen}");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
}

#[test]
fn a_run_that_begins_while_somebody_watches_appears() {
    let stage = stage();
    let mut terminal = attach(&stage, &[]);
    terminal.wait_for("No runs yet. New runs appear here, and n starts one.");
    delegate(&stage, &["late=Say hello"]).run().expect_success();
    terminal.wait_for_screen(|screen| screen.lines().any(|row| row == "You said: Say hello"));
    terminal.press("o");
    terminal.wait_for("answer of");
    terminal.press("o");
    terminal.wait_for("> Say hello");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
}

#[test]
fn what_a_model_says_is_seen_before_it_has_said_it_to_its_end() {
    let stage = Stage::new();
    let again = |number: usize| stage.path(&format!("again{number}"));
    // Messages before the owner knows of a reader are skipped, so the child says it many times.
    let mut script: Vec<Value> = (0..TIMES)
        .flat_map(|number| {
            let said = json!({"type": "text_end", "contentIndex": 0, "content": "Hello \u{1b}]0;owned\u{7}wo"});
            [
                json!({"waitForFile": again(number)}),
                json!({"record": {"type": "message_update", "assistantMessageEvent": said}}),
            ]
        })
        .collect();
    script.push(json!({"reply": "Hello world."}));
    let owner = stage.delegate(&call(&[("talker", json!(script))])).spawn();
    let mut terminal = attach(&stage, &[]);
    terminal.wait_for("⏳ talker •");
    let mut numbers = 0..TIMES;
    terminal.wait_for_screen(|screen| {
        numbers.next().map(|number| fs::write(again(number), ""));
        screen.lines().any(|row| row == "Hello wo")
    });
    for number in numbers {
        fs::write(again(number), "").unwrap();
    }
    let screen = terminal.wait_for_screen(|screen| {
        screen.contains("Sub-agents: 1 completed")
            && screen.lines().any(|row| row == "Hello world.")
    });
    let said = screen.lines().filter(|row| row.starts_with("Hello"));
    assert_eq!(said.collect::<Vec<_>>(), ["Hello world."]);
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    assert_eq!(owner.wait().code, Some(0));
}

#[test]
fn every_size_works_and_the_window_grows_with_it() {
    let stage = stage();
    let _owner = at_work(&stage, &["worker=Work"]);
    let mut terminal = attach_sized(&stage, &[], 100, 20);
    terminal.wait_for("? help  q leave  Enter open  n new  s steer  x stop");
    terminal.press("?");
    terminal.wait_for("Keys in the list");
    terminal.press("?");
    terminal.wait_for("? help  q leave  Enter open  n new  s steer  x stop");
    terminal.resize(1, 1);
    terminal.wait_for_screen(|screen| screen.chars().count() <= 1);
    terminal.resize(40, 10);
    let screen =
        terminal.wait_for_screen(|screen| screen.ends_with("? help  q leave  Enter open  n new"));
    assert!(
        screen.lines().all(|row| row.chars().count() <= 40),
        "{screen}"
    );
    terminal.resize(100, 20);
    terminal.wait_for("? help  q leave  Enter open  n new  s steer  x stop");
    terminal.press("?");
    terminal.wait_for("Keys in the list");
    terminal.press("?");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
}

#[test]
fn nothing_a_child_says_commands_the_terminal() {
    let stage = Stage::new();
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[?1049lred\u{1b}[31m \u{9b}2J日本\u{202e}x";
    let script = json!([
        {"stderr": format!("{hostile}\n")},
        {"print": format!("{hostile}\n")},
        {"toolCall": {"name": "bash", "arguments": {"command": hostile}, "result": hostile}},
        {"reply": hostile},
    ]);
    let name = format!("{hostile} name");
    stage
        .delegate(&call(&[(&name, script)]))
        .run()
        .expect_success();
    let mut terminal = attach(&stage, &[]);
    let screen = terminal.wait_for_screen(|screen| screen.contains("[stderr]: red 日本x"));
    let told: Vec<&str> = screen
        .lines()
        .skip_while(|row| !row.starts_with("bash"))
        .take(5)
        .collect();
    assert_eq!(
        told,
        [
            "bash → red 日本x  1 line",
            "",
            "red 日本x",
            "red 日本x",
            "[stderr]: red 日本x"
        ]
    );
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
}

#[test]
fn an_id_opens_its_run_or_its_session_at_once() {
    let stage = stage();
    let done = delegate(&stage, &["one=Say one", "two=Say two"]).arg("--json");
    let runs = done.run().expect_success().json()["runs"].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (run, session) = (text(&runs[0]["runId"]), text(&runs[1]["sessionId"]));
    let mut terminal = attach(&stage, &[&run]);
    let screen = terminal.wait_for("You said: Say one");
    assert!(screen.contains("\n✓ one"), "{screen}");
    assert!(!screen.contains("two"), "{screen}");
    terminal.press("a");
    terminal.wait_for("Sub-agents: 2 completed");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    let mut terminal = attach(&stage, &[&session[..10]]);
    let screen = terminal.wait_for("> Say two");
    assert!(!screen.contains("Say one"), "{screen}");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    let unknown = Terminal::start(stage.command(&["attach", "zzz"]));
    let (code, screen) = unknown.end();
    assert_eq!(code, Some(3));
    insta::assert_snapshot!(screen, @r#"
    error: there is no run or session "zzz"
    hint: Name an id by at least its first 4 characters.
    hint: pi-subagents status --all lists the runs of this project.
    "#);
}

#[test]
fn a_view_leaves_by_itself_when_its_run_is_over() {
    let stage = stage();
    let owner = at_work(&stage, &["worker=Work"]);
    let run = rows(&stage)[0]["runId"].as_str().unwrap().to_owned();
    let terminal = attach(&stage, &[&run, "--until-over"]);
    terminal.wait_for("bash → until");
    let_go(&stage);
    assert_eq!(terminal.leave(), (Some(0), true));
    assert_eq!(owner.wait().code, Some(0));
}

#[test]
fn without_a_terminal_it_says_what_to_use_instead() {
    let stage = stage();
    insta::assert_snapshot!(stage.command(&["attach"]).run(), @"
    --- exit code
    2
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: attach needs a terminal on stdin and stdout
    hint: Use pi-subagents status --watch to see the runs, or pi-subagents logs ID --follow to see what happens in one.
    [EOF]
    ");
    for flag in ["--json", "--json-stream", "--quiet"] {
        let terminal = Terminal::start(stage.command(&["attach", flag]));
        assert_eq!(terminal.end().0, Some(2), "{flag}");
    }
}
