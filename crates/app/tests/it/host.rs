//! The host over its wire: calls, cancellation, and how it ends.

use std::fs;

use pi_subagents_testkit::process::{descendants, wait_until_gone};
use pi_subagents_testkit::{Signal, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::host_stage::{PATIENCE, Shim};
use crate::stage::{Stage, call};

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Returns a script that prints something, reports that it is at work, and waits for ever.
fn endless(stage: &Stage, name: &str) -> Value {
    json!([
        {"say": format!("{name} so far")},
        {"fork": {"kind": "ownSession", "pidFile": stage.path(&format!("{name}.pid"))}},
        {"touch": stage.path(&format!("{name}.ready"))},
        {"hang": true},
    ])
}

/// Waits until such a script is at work, and returns the process that it has started.
fn at_work(stage: &Stage, name: &str) -> u32 {
    wait_for_file(stage.path(&format!("{name}.ready")), PATIENCE);
    let pid = fs::read_to_string(stage.path(&format!("{name}.pid"))).unwrap();
    pid.trim().parse().unwrap()
}

#[test]
fn a_call_is_answered_with_its_windows_and_what_it_consumed() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let id = shim.delegate("c1", &[("one", json!([{"reply": "first \u{2028} line"}]))]);
    let result = shim.result(id);
    let session = result["details"]["sessionIds"][0].as_str().unwrap();
    assert_eq!(
        text(&result),
        format!(
            "✓ one: completed (session: {session})\n  saw: no tool call, 1 turn, 110 tokens, <$0.01"
        )
    );
    assert_eq!(
        result["details"]["windows"][0]["allMessages"][0]["text"],
        "first  line"
    );
    assert_eq!(
        result["usage"],
        json!({
            "input": 100, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 110,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.00045},
        })
    );
    assert_eq!(shim.output(session), Ok("first \u{2028} line".to_owned()));
    assert!(!shim.host.stdout().contains('\u{2028}'));
    let output = shim.hang_up();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
}

#[test]
fn calls_at_once_are_answered_each_and_one_of_them_can_be_cancelled() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let stopped = shim.delegate("c1", &[("stopped", endless(&stage, "stopped"))]);
    let going = shim.delegate(
        "c2",
        &[("going", json!([{"touch": stage.path("going")}, {"waitForFile": stage.path("go")}, {"reply": "done"}]))],
    );
    let pid = at_work(&stage, "stopped");
    wait_for_file(stage.path("going"), PATIENCE);
    shim.notify("tool/cancel", &json!({"callId": "c1"}));
    let result = shim.result(stopped);
    let session = result["details"]["sessionIds"][0].as_str().unwrap();
    assert_eq!(
        text(&result),
        format!(
            "✗ stopped: error — Stopped on request. (session: {session})\n  saw: no tool call, 1 turn, 110 tokens, <$0.01"
        )
    );
    assert_eq!(wait_until_gone(&[pid], PATIENCE), Ok(()));
    assert_eq!(shim.output(session), Ok("stopped so far".to_owned()));
    fs::write(stage.path("go"), "").unwrap();
    assert!(text(&shim.result(going)).starts_with("✓ going: completed"));
    // A cancellation that comes too late is no matter.
    shim.notify("tool/cancel", &json!({"callId": "c1"}));
    assert_eq!(shim.hang_up().code, Some(0));
}

#[test]
fn updates_carry_all_lines_only_where_they_are_shown() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let script = json!([
        {"say": "hello"}, {"waitForFile": stage.path("more")}, {"say": "more"},
        {"waitForFile": stage.path("end")}, {"reply": "end"},
    ]);
    let id = shim.delegate("c1", &[("one", script)]);
    let update_with = |shim: &Shim, text: &str| {
        let is_it = |update: &Value| {
            let window = &update["details"]["windows"][0];
            [&window["lines"], &window["allMessages"]]
                .into_iter()
                .any(|lines| lines.to_string().contains(text))
        };
        wait_until(PATIENCE, || {
            shim.notifications("tool/update").into_iter().find(is_it)
        })
        .unwrap()
    };
    let collapsed = update_with(&shim, "hello");
    assert_eq!(collapsed["callId"], "c1");
    assert_eq!(text(&collapsed), "Sub-agents: 1 running");
    assert!(
        collapsed["details"]["windows"][0]
            .get("allMessages")
            .is_none()
    );
    shim.notify("tool/look", &json!({"callId": "c1", "expanded": true}));
    // If a later line was answered, the earlier line was read.
    _ = shim.completions("subagents", "");
    fs::write(stage.path("more"), "").unwrap();
    let expanded = update_with(&shim, "more");
    let window = &expanded["details"]["windows"][0];
    assert_eq!(window["allMessages"].as_array().unwrap().len(), 2);
    assert!(window.get("lines").is_none());
    fs::write(stage.path("end"), "").unwrap();
    _ = shim.result(id);
}

#[test]
fn a_flood_of_lines_makes_few_updates() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let id = shim.delegate(
        "c1",
        &[(
            "flood",
            json!([{"messages": {"count": 20_000, "bytes": 100}}, {"settle": true}]),
        )],
    );
    assert!(text(&shim.result(id)).starts_with("✓ flood"));
    let updates = shim.notifications("tool/update").len();
    assert!(updates < 2_000, "{updates} updates of 20,000 messages");
}

#[test]
fn what_a_tool_refuses_is_an_error_a_model_can_read() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let no_task = shim.execute("c1", "delegate_to_subagents", &json!({"tasks": []}));
    let no_tool = shim.execute("c2", "no_such_tool", &json!({}));
    let no_field = shim.request("tool/execute", &json!({"callId": "c3"}));
    let no_method = shim.request("tool/fly", &json!({}));
    let errors =
        [no_task, no_tool, no_field, no_method].map(|id| shim.response(id)["error"].clone());
    assert_eq!(
        errors,
        [
            json!({"code": -32000, "message": "tasks must have at least 1 task"}),
            json!({"code": -32000, "message": "there is no tool no_such_tool"}),
            json!({"code": -32602, "message": ".: missing field `tool`"}),
            json!({"code": -32601, "message": "there is no method tool/fly"}),
        ]
    );
}

#[test]
fn a_bad_line_is_answered_and_ends_nothing() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    for line in [
        "{",
        "[1]",
        "7",
        r#"{"id": 9}"#,
        r#"{"id": "x", "result": {}}"#,
        "",
        "{\"method\": 5}",
    ] {
        shim.line(line);
    }
    let id = shim.delegate("c1", &[("one", json!([{"reply": "still here"}]))]);
    assert!(text(&shim.result(id)).starts_with("✓ one"));
    let heard = shim.messages();
    let refused = heard
        .iter()
        .filter(|message| message.get("error").is_some());
    let refused: Vec<Value> = refused
        .map(|message| json!([message["id"], message["error"]["code"]]))
        .collect();
    assert_eq!(
        refused,
        [
            json!([null, -32700]),
            json!([null, -32600]),
            json!([null, -32600]),
            json!([9, -32600]),
            json!(["x", -32600]),
            json!([null, -32600]),
        ]
    );
}

#[test]
fn when_pi_hangs_up_nothing_is_left() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    shim.delegate(
        "c1",
        &[("a", endless(&stage, "a")), ("b", endless(&stage, "b"))],
    );
    let mut tree = vec![at_work(&stage, "a"), at_work(&stage, "b")];
    tree.extend(descendants(shim.host.pid()));
    assert_eq!(shim.hang_up().code, Some(0));
    assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()));
    let runs = stage.command(&["status", "--all", "--json"]).run().json()["runs"].clone();
    let states: Vec<Value> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["status"].clone())
        .collect();
    assert_eq!(states, ["stopped", "stopped"]);
}

#[test]
fn a_dialog_that_nobody_answers_does_not_hold_up_the_end() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    shim.command("profile", "create new");
    shim.next("ui/select");
    assert_eq!(shim.hang_up().code, Some(0));
}

#[test]
fn a_signal_ends_it_as_it_ends_other_commands() {
    const GONE: &str = "Session was interrupted (main agent session ended unexpectedly)";
    let stage = Stage::new();
    for (signal, code, why) in [
        (Signal::TERM, Some(143), "Interrupted by SIGTERM."),
        // Its terminal is gone, and pi with it.
        (Signal::HUP, Some(129), GONE),
        (Signal::KILL, None, GONE),
    ] {
        let name = format!("{code:?}");
        let mut shim = Shim::start(&stage);
        shim.delegate("c1", &[("a", endless(&stage, &name))]);
        let mut tree = vec![at_work(&stage, &name)];
        tree.extend(descendants(shim.host.pid()));
        shim.host.kill(signal);
        assert_eq!(shim.host.wait().code, code);
        assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()));
        let rows = stage.command(&["status", "--all", "--json"]).run().json();
        assert_eq!(rows["runs"][0]["errorMessage"], why, "{rows}");
    }
}

#[test]
fn the_same_call_twice_is_refused() {
    let stage = Stage::new();
    let mut shim = Shim::start(&stage);
    let first = shim.delegate("c1", &[("a", endless(&stage, "a"))]);
    at_work(&stage, "a");
    let second = shim.execute("c1", "delegate_to_subagents", &call(&[]));
    assert_eq!(
        shim.response(second)["error"]["message"],
        "the call c1 is already running"
    );
    shim.notify("tool/cancel", &json!({"callId": "c1"}));
    assert!(text(&shim.result(first)).contains("Stopped on request."));
}
