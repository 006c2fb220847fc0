//! Partial messages of a model, at every door.

use std::fs;

use pi_subagents_testkit::sandbox::SandboxCommand;
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::host_stage::{PATIENCE, Shim};
use crate::stage::{Stage, call};
use crate::terminal::Terminal;

/// The largest number of times that something is said until somebody reads it.
const TIMES: usize = 200;

fn piece(event: &Value) -> Value {
    json!({"record": {"type": "message_update", "usage": {}, "assistantMessageEvent": event}})
}

/// Returns a script that thinks, writes half a sentence, and completes it when a file appears.
fn talker(stage: &Stage) -> Value {
    json!([
        piece(&json!({"type": "thinking_start", "contentIndex": 0})),
        {"waitForFile": stage.path("speak")},
        piece(&json!({"type": "text_start", "contentIndex": 1})),
        piece(&json!({"type": "text_delta", "contentIndex": 1, "delta": "Here is the an"})),
        {"waitForFile": stage.path("end")},
        {"reply": "Here is the answer."},
    ])
}

fn delegate(stage: &Stage, script: &Value) -> SandboxCommand {
    let call = call(&[("talker", script.clone())]);
    stage.sandbox.write("project/call.json", &call.to_string());
    stage.command(&["delegate", "call.json", "--runner", "pi"])
}

#[test]
fn the_live_windows_of_a_command_show_it_and_its_answer_does_not() {
    let stage = Stage::new();
    let terminal = Terminal::start(delegate(&stage, &talker(&stage)));
    terminal.wait_for("  (thinking...)");
    fs::write(stage.path("speak"), "").unwrap();
    let seen = terminal.wait_for("  Here is the an▌");
    assert!(!seen.contains("(thinking...)"), "{seen}");
    fs::write(stage.path("end"), "").unwrap();
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0));
    assert!(!screen.contains('▌'), "{screen}");
}

#[test]
fn the_windows_inside_pi_show_it_and_their_record_does_not() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let id = shim.delegate("c1", &[("talker", talker(&stage))]);
    let newest = |shim: &Shim| {
        let update = shim.notifications("tool/update").pop()?;
        let lines = update["details"]["windows"][0]["lines"].as_array()?.clone();
        lines.last().cloned()
    };
    let shows = |shim: &Shim, spans: &[(&str, &str)]| {
        let text: String = spans.iter().map(|(text, _)| *text).collect();
        let spans = spans.iter();
        let spans: Vec<Value> = spans
            .map(|(text, role)| json!({"text": text, "role": role}))
            .collect();
        let line = json!({"text": text, "kind": "text", "spans": spans});
        let seen = wait_until(PATIENCE, || (newest(shim)? == line).then_some(()));
        assert!(seen.is_some(), "{:?}", newest(shim));
    };
    shows(&shim, &[("(thinking...)", "muted")]);
    fs::write(stage.path("speak"), "").unwrap();
    shows(&shim, &[("Here is the an", "plain"), ("▌", "muted")]);
    fs::write(stage.path("end"), "").unwrap();
    let result = shim.result(id);
    assert_eq!(
        result["details"]["windows"][0]["allMessages"],
        json!([{"text": "Here is the answer.", "kind": "text"}])
    );
    assert_eq!(shim.hang_up().code, Some(0));
}

#[test]
fn without_a_terminal_nothing_of_it_is_seen() {
    let stage = Stage::new();
    for file in ["speak", "end"] {
        fs::write(stage.path(file), "").unwrap();
    }
    let command = delegate(&stage, &talker(&stage)).args(["--json-stream"]);
    let output = command.run().expect_success();
    for said in [output.stdout, output.stderr] {
        assert!(!said.contains("(thinking...)"), "{said}");
        assert!(!said.contains('▌'), "{said}");
    }
}

#[test]
fn the_list_of_attach_shows_it_also_of_a_run_that_is_not_selected() {
    let stage = Stage::new();
    let again = |number: usize| stage.path(&format!("again{number}"));
    // Messages before the owner knows of a reader are skipped, so the child says it many times.
    let mut script: Vec<Value> = (0..TIMES)
        .flat_map(|number| {
            let words = format!("word {number} ");
            [
                json!({"waitForFile": again(number)}),
                piece(&json!({"type": "text_delta", "contentIndex": 0, "delta": words})),
            ]
        })
        .collect();
    script.push(json!({"reply": "Done."}));
    let quiet = json!([{"waitForFile": again(TIMES - 1)}, {"reply": "Done."}]);
    let owner = stage
        .delegate(&call(&[("quiet", quiet), ("talker", json!(script))]))
        .spawn();
    let mut terminal = Terminal::start_sized(stage.command(&["attach"]), 100, 20);
    terminal.wait_for("> ⏳ quiet");
    let mut numbers = 0..TIMES;
    terminal.wait_for_screen(|screen| {
        numbers.next().map(|number| fs::write(again(number), ""));
        screen
            .lines()
            .any(|row| row.contains("⏳ talker") && row.ends_with('▌'))
    });
    for number in numbers {
        fs::write(again(number), "").unwrap();
    }
    let screen = terminal.wait_for("Sub-agents: 2 completed");
    assert!(!screen.contains('▌'), "{screen}");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    assert_eq!(owner.wait().code, Some(0));
}
