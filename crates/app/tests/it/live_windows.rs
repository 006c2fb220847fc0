//! The live windows of the built binary, on a terminal of a usual size and in a log.

use std::fs;

use pi_subagents_testkit::Signal;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, call};
use crate::terminal::Terminal;

/// Says half a sentence, and completes it when it may.
fn worker(stage: &Stage, number: usize) -> Value {
    let words = format!(
        "I am worker {number}, and I have so much to say that it does not fit one row of this terminal: the cache is never emp"
    );
    let said = |event: Value| json!({"record": {"type": "message_update", "usage": {}, "assistantMessageEvent": event}});
    json!([
        said(json!({"type": "text_start", "contentIndex": 0})),
        said(json!({"type": "text_delta", "contentIndex": 0, "delta": words})),
        {"waitForFile": stage.path("end")},
        {"reply": "The cache is never emptied."},
    ])
}

fn sixteen(stage: &Stage) -> Terminal {
    let tasks: Vec<(String, Value)> = (1..=16)
        .map(|number| (format!("worker-{number:02}"), worker(stage, number)))
        .collect();
    let tasks: Vec<(&str, Value)> = tasks
        .iter()
        .map(|(name, script)| (name.as_str(), script.clone()))
        .collect();
    stage
        .sandbox
        .write("project/call.json", &call(&tasks).to_string());
    let command = stage.command(&["delegate", "call.json", "--runner", "pi"]);
    let command = command.args(["--concurrency", "4"]);
    Terminal::start_sized(command, 80, 24)
}

/// Returns a screen without the clocks, which are last in the headers of running windows.
fn without_clocks(screen: &str) -> String {
    let lines = screen.lines().map(|line| match line.rsplit_once(" • ") {
        Some((header, _)) if line.starts_with('⏳') && !line.ends_with("queued") => header,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn sixteen_tasks_fit_a_terminal_and_leave_nothing_but_their_answers() {
    let stage = Stage::new();
    let mut terminal = sixteen(&stage);
    let all_speak = |screen: &str| screen.matches("emp▌").count() == 4;
    let screen = terminal.wait_for_screen(all_speak);
    insta::assert_snapshot!("sixteen_tasks_80x24", without_clocks(&screen));
    terminal.resize(60, 20);
    let narrow = |screen: &str| all_speak(screen) && screen.contains("… and 7 queued");
    let screen = terminal.wait_for_screen(narrow);
    assert!(screen.lines().count() <= 20, "{screen}");
    fs::write(stage.path("end"), "").unwrap();
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0));
    for left in ["Sub-agents:", "⏳", "▌"] {
        assert!(!screen.contains(left), "{left} in\n{screen}");
    }
}

#[test]
fn an_interrupted_call_leaves_a_clean_screen() {
    let stage = Stage::new();
    let terminal = sixteen(&stage);
    terminal.wait_for("… and 3 queued");
    terminal.signal(Signal::INT);
    let (_, screen) = terminal.end();
    for left in ["Sub-agents:", "⏳", "▌"] {
        assert!(!screen.contains(left), "{left} in\n{screen}");
    }
}

/// A model whose calls fail in every way that the embedded agent has.
const FAILING: &str = r#"{"rules": [{"turns": [
    {"text": "I try.", "toolCalls": [
        {"name": "bash", "arguments": {"command": "echo out; exit 3"}},
        {"name": "edit", "arguments": {"path": "README.md", "edits": [{"oldText": "no such text", "newText": "b"}]}},
        {"name": "deploy", "arguments": {"to": "production"}}
    ]},
    {"toolCalls": [{"name": "edit", "arguments": {"path": "README.md", "edits": [{"oldText": "two", "newText": "2\nand more"}]}}]},
    {"text": "Done."}
]}]}"#;

#[test]
fn failed_calls_look_failed_in_a_log() {
    let stage = Stage::new();
    stage.sandbox.write("project/README.md", "one\ntwo\n");
    stage.sandbox.write("project/model.json", FAILING);
    stage.sandbox.write(
        "project/call.json",
        &json!({"tasks": [{"name": "fix", "prompt": "Fix it."}]}).to_string(),
    );
    let arguments = [
        "delegate",
        "call.json",
        "--runner",
        "embedded",
        "--model",
        "scripted/model.json",
    ];
    let output = stage.command(&arguments).run();
    let log: Vec<&str> = output
        .stderr
        .lines()
        .filter(|line| line.contains("→") || line.contains('✗') || line.contains("deploy"))
        .collect();
    insta::assert_snapshot!(log.join("\n"), @r#"
    fix  bash → echo out; exit 3
    fix  edit → README.md (1 edit)
    fix  deploy {"to":"production"}
    fix  ✗ bash → echo out; exit 3  exit 3
    fix  ✗ edit → README.md (1 edit)  text not found
    fix  ✗ deploy: the sub-agent has no such tool
    fix  edit → README.md (1 edit)
    "#);
}
