//! Settings that do not count are reported: a file that is not JSON stops every command that would
//! start a run, and an unknown key is a warning.

use pi_subagents_testkit::sandbox::CommandOutput;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::host_stage::Shim;
use crate::mcp_stage::McpClient;
use crate::stage::Stage;

/// Settings whose limit does not hold, because of the comma behind it.
const TRAILING_COMMA: &str = "{\n  \"subagents\": {\n    \"maxCost\": 1,\n  }\n}\n";

fn delegate(stage: &Stage) -> CommandOutput {
    stage
        .command(&["delegate", "--runner", "embedded"])
        .args(["--model", "scripted/tour", "--task", "a=hello"])
        .run()
}

/// Returns the check of `doctor` about the settings.
fn check(stage: &Stage) -> Value {
    let output = stage.command(&["doctor", "--json"]).run();
    let mut report = output.json();
    let checks = report["checks"].as_array_mut().unwrap();
    let found = checks.iter_mut().find(|check| check["name"] == "settings");
    let text = found.unwrap().to_string();
    serde_json::from_str(&stage.sandbox.normalise(&text)).unwrap()
}

#[test]
fn a_trailing_comma_stops_what_would_start_and_nothing_else() {
    let stage = Stage::new();
    let before = delegate(&stage);
    assert_eq!(before.code, Some(0), "{before}");
    stage
        .sandbox
        .write("home/.pi/agent/settings.json", TRAILING_COMMA);
    let refused = delegate(&stage);
    insta::assert_snapshot!(stage.printed(&refused), @"
    error: $HOME/.pi/agent/settings.json:3:17 is not JSON: there is a comma with nothing after it
    hint: Nothing was started, because the limits in that file would not have held. Fix it and try again.
    ");
    assert_eq!(refused.code, Some(2));
    for command in ["run", "spawn"] {
        let output = stage.command(&[command, "default", "hello"]).run();
        let told = stage.printed(&output);
        assert_eq!(output.code, Some(2), "{told}");
        assert!(told.contains("settings.json:3:17 is not JSON"), "{told}");
    }
    // Commands that only read go on, and know of one run.
    let status = stage.command(&["status", "--all", "--json"]).run();
    let runs = status.json()["runs"].as_array().unwrap().len();
    assert_eq!((status.code, runs), (Some(0), 1), "{status}");
    assert_eq!(
        check(&stage),
        json!({
            "name": "settings",
            "mark": "problem",
            "text": "$HOME/.pi/agent/settings.json:3:17 is not JSON: there is a comma with nothing after it",
            "hints": ["Nothing can start until you fix that file."],
        })
    );
}

#[test]
fn inside_pi_and_over_mcp_it_is_the_error_of_the_call() {
    let stage = Stage::new();
    stage
        .sandbox
        .write("home/.pi/agent/settings.json", TRAILING_COMMA);
    let call = json!({"tasks": [{"name": "a", "prompt": "hello"}]});
    let expected = "$HOME/.pi/agent/settings.json:3:17 is not JSON: there is a comma with nothing after it\nNothing was started, because the limits in that file would not have held. Fix it and try again.";
    let mut client = McpClient::start(&stage, "legacy", &[]);
    client.call("a", "delegate_to_subagents", &call);
    let answer = client.answer("a");
    let text = stage
        .sandbox
        .normalise(answer["text"][0].as_str().unwrap_or_default());
    assert_eq!(
        (text.as_str(), &answer["isError"]),
        (expected, &json!(true))
    );
    client.leave();

    let mut shim = Shim::start(&stage);
    let id = shim.execute("c1", "delegate_to_subagents", &call);
    let response = stage.sandbox.normalise(&shim.response(id).to_string());
    assert!(
        response.contains("settings.json:3:17 is not JSON"),
        "{response}"
    );
    shim.hang_up();
}

#[test]
fn the_file_of_a_project_counts_once_it_is_trusted() {
    let stage = Stage::new();
    stage
        .sandbox
        .write("project/.pi/settings.json", "{\"subagents\": // no\n{}}");
    let unread = delegate(&stage);
    assert_eq!(unread.code, Some(0), "{unread}");
    stage.command(&["trust", "--yes"]).run().expect_success();
    let refused = delegate(&stage);
    let told = stage.printed(&refused);
    assert_eq!(refused.code, Some(2), "{told}");
    let expected =
        "error: $PROJECT/.pi/settings.json:1:15 is not JSON: comments are not allowed in this file";
    assert_eq!(told.lines().next(), Some(expected));
}

#[test]
fn a_key_that_nobody_knows_is_told_once_and_does_not_seem_to_count() {
    let stage = Stage::new();
    stage.settings(&json!({"commandPreviewWith": 100, "maxTokens": 1000}));
    let output = delegate(&stage);
    let told = stage.printed(&output);
    let warning = "$HOME/.pi/agent/settings.json:1:15: subagents.commandPreviewWith is unknown and ignored; did you mean commandPreviewWidth?";
    assert_eq!(told.matches(warning).count(), 1, "{told}");
    assert_eq!(output.code, Some(0), "{told}");
    assert_eq!(
        check(&stage),
        json!({
            "name": "settings",
            "mark": "warning",
            "text": "maxTokens in ~/.pi/agent/settings.json",
            "hints": [warning],
        })
    );
}

#[test]
fn a_restriction_that_cannot_be_read_refuses_the_run() {
    for (settings, why) in [
        (
            json!({"maxCost": "lots"}),
            "subagents.maxCost must be a number of 0 or more, not \"lots\"",
        ),
        (
            json!({"maxTokens": -5}),
            "subagents.maxTokens must be 0 or more, not -5",
        ),
        (
            json!({"isolation": "wroktree"}),
            "subagents.isolation must be one of none, worktree, not \"wroktree\"",
        ),
        (
            json!({"maxCsot": 1}),
            "subagents.maxCsot is unknown; did you mean maxCost?",
        ),
    ] {
        let stage = Stage::new();
        stage.settings(&settings);
        let output = delegate(&stage);
        let told = stage.printed(&output);
        assert_eq!(output.code, Some(2), "{told}");
        assert!(told.contains(why), "{told}");
        let status = stage.command(&["status", "--all", "--json"]).run();
        assert_eq!(status.json()["runs"], json!([]), "{status}");
    }
}
