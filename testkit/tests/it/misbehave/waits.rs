//! Steps that wait, and what interrupts them.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::sandbox::Sandbox;
use pi_subagents_testkit::wait_for_file;
use serde_json::{Value, json};

use super::stage::{command, outline, start};

const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn test_and_child_wait_for_each_other() {
    let sandbox = Sandbox::new();
    let (ready, go) = (sandbox.root().join("ready"), sandbox.root().join("go"));
    let running = start(
        &sandbox,
        &json!([{"touch": ready}, {"waitForFile": go}, {"exit": 5}]),
    );
    wait_for_file(&ready, PATIENCE);
    fs::write(go, "").unwrap();
    let output = running.wait();
    assert_eq!(output.code, Some(5));
    assert_eq!(outline(&output.stdout), ["response prompt true"]);
}

#[test]
fn a_sleep_ends_by_itself() {
    let sandbox = Sandbox::new();
    let running = start(&sandbox, &json!([{"sleepMs": 10}, {"exit": 0}]));
    assert_eq!(running.wait().code, Some(0));
}

#[test]
fn abort_interrupts_a_step_that_waits() {
    for step in [
        json!({"hang": true}),
        json!({"sleepMs": 600_000}),
        json!({"waitForFile": "/nowhere"}),
        json!({"askUser": {"id": "u", "method": "input"}}),
    ] {
        assert_eq!(aborted(&step), ABORTED, "{step}");
    }
}

const ABORTED: [&str; 5] = [
    "message_end assistant aborted Request aborted",
    "turn_end assistant aborted Request aborted",
    "agent_end",
    "agent_settled",
    "response abort true",
];

fn aborted(step: &Value) -> Vec<String> {
    let sandbox = Sandbox::new();
    let mut running = start(
        &sandbox,
        &json!([{"say": "before"}, step, {"say": "never"}]),
    );
    running.wait_for_stdout("before");
    assert!(running.write_line(&command("abort", "")));
    running.close_stdin();
    let output = running.wait().expect_success();
    let mut lines = outline(&output.stdout);
    lines.retain(|line| line != "extension_ui_request");
    lines.split_off(2)
}

#[test]
fn the_end_of_stdin_ends_a_step_that_waits() {
    let sandbox = Sandbox::new();
    let mut running = start(&sandbox, &json!([{"hang": true}]));
    running.close_stdin();
    assert_eq!(running.wait().code, Some(0));
}

#[test]
fn abort_can_be_ignored() {
    let sandbox = Sandbox::new();
    let mut running = start(&sandbox, &json!([{"ignoreAbort": true}, {"hang": true}]));
    for kind in ["abort", "get_state"] {
        assert!(running.write_line(&command(kind, "")));
    }
    running.wait_for_stdout("get_state");
    running.close_stdin();
    assert_eq!(
        outline(&running.wait().stdout),
        ["response prompt true", "response get_state true"]
    );
}

#[test]
fn a_question_waits_for_its_own_answer() {
    let sandbox = Sandbox::new();
    let script = json!([{"askUser": {"id": "u1", "method": "confirm"}}, {"say": "after"}]);
    let mut running = start(&sandbox, &script);
    running.wait_for_stdout("extension_ui_request");
    for answer in [
        r#"{"type":"extension_ui_response","id":"u2","confirmed":true}"#,
        r#"{"type":"extension_ui_response","id":"u1","cancelled":true}"#,
    ] {
        assert!(running.write_line(answer));
    }
    running.close_stdin();
    assert_eq!(
        outline(&running.wait().stdout),
        [
            "response prompt true",
            "extension_ui_request",
            r#"message_end assistant answered: {"type":"extension_ui_response","id":"u1","cancelled":true} stop"#,
            "message_end assistant after stop",
        ]
    );
}
