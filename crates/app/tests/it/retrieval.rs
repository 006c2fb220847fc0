//! The messages of a session, read with the words of the retrieval tools, now and after everything
//! is gone but the runs.

use std::fs;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, call};

/// Returns everything that the commands print about a session.
fn printed_about(stage: &Stage, session: &str) -> Vec<String> {
    let commands: [&[&str]; 5] = [
        &["output", session],
        &["output", session, "--json"],
        &["session", session],
        &["session", session, "--json"],
        &["agents", "list"],
    ];
    commands
        .iter()
        .map(|arguments| stage.command(arguments).run().stdout)
        .collect()
}

/// Returns the JSON of a command, without the parts that differ from run to run.
fn steady(stage: &Stage, text: &str) -> Value {
    serde_json::from_str(&stage.sandbox.normalise(text)).unwrap()
}

#[test]
fn texts_and_details_are_as_documented_and_survive_a_restart() {
    let stage = Stage::new();
    let long_command = format!("printf '{}'", "y".repeat(600));
    let server = LlmServer::start(
        Script::new()
            .on(
                "Look around",
                [
                    Turn::text("Looking.\nTwo lines.")
                        .and_tool_call("bash", json!({"command": long_command}))
                        .and_tool_call("read", json!({"path": "$&"})),
                    Turn::text("All is well: é👩‍👩‍👧."),
                ],
            )
            .otherwise([Turn::status(400, "no such deployment")]),
    );
    stage.sandbox.models_json(&server.base_url());
    stage.profile("reviewer", "model: fake/fake-model", "You review.");
    stage.sandbox.write(
        "project/call.json",
        r#"{"tasks": [{"name": "look", "prompt": "Look around.", "profile": "reviewer"}]}"#,
    );
    let first = stage
        .command(&["delegate", "call.json", "--runner", "embedded", "--json"])
        .run()
        .expect_success();
    let first = first.json();
    let session = first["runs"][0]["sessionId"].as_str().unwrap();
    let task = json!({"name": "look again", "prompt": "Go on.", "resume": session});
    let second = stage
        .delegate_to("embedded", &json!({"tasks": [task]}))
        .run();
    assert_eq!(second.json()["runs"][0]["sessionId"], session);

    let before = printed_about(&stage, session);
    let [output, output_json, transcript, transcript_json, profiles] = before.as_slice() else {
        panic!("five commands");
    };
    assert_eq!(output, "");
    let hints = [
        "See what it did: pi-subagents session <session-1>",
        "Continue it with pi-subagents resume <session-1> PROMPT.",
    ];
    assert_eq!(
        steady(&stage, output_json),
        json!({"schemaVersion": 1, "type": "error", "error": {
            "kind": "noAnswer",
            "message": "look again has no answer: it failed — 400: no such deployment",
            "hint": hints.join("\n"),
        }})
    );
    let transcript = stage.sandbox.normalise(transcript.trim_end());
    insta::assert_snapshot!(transcript.replace(&"y".repeat(90), "<90 y>"), @r#"
    === Run 1/2: look (completed) ===
    [<time>] prompt
    Look around.

    [<time>] assistant
    Looking.
    Two lines.

    [<time>] tool call of bash
    {"command":"printf '<90 y><90 y><90 y><90 y><90 y><90 y>yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'"}

    [<time>] tool call of read
    {"path":"$&"}

    [<time>] result of bash
    <90 y><90 y><90 y><90 y><90 y><90 y>yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy

    [<time>] failed result of read
    ENOENT: no such file or directory, access '$PROJECT/$&'

    [<time>] assistant
    All is well: é👩‍👩‍👧.

    [<time>] completed
    2 tool calls • 220 tokens • <$0.01 • <duration>

    === Run 2/2: look again (failed) ===
    [<time>] prompt
    Go on.

    [<time>] error
    400: no such deployment

    [<time>] failed
    400: no such deployment
    <duration>
    "#);
    let read = steady(&stage, transcript_json);
    let counted = read["runs"].as_array().unwrap().iter();
    let counted: Vec<usize> = counted
        .map(|run| run["messages"].as_array().unwrap().len())
        .collect();
    assert_eq!(counted, [5, 2]);
    insta::assert_snapshot!(profiles, @r#"
    NAME      FORMAT   MODEL            DESCRIPTION
    reviewer  profile  fake/fake-model  "You review."
    "#);

    // Every command is a process of its own; the index is made anew from the runs.
    let index = stage.sandbox.agent_dir().join("subagents-index.jsonl");
    fs::remove_file(&index).unwrap();
    assert_eq!(printed_about(&stage, session), before);
    fs::remove_file(&index).unwrap();
    let task = json!({"name": "third", "prompt": "Look around.", "resume": session});
    let third = stage
        .delegate_to("embedded", &json!({"tasks": [task]}))
        .run();
    assert_eq!(third.json()["runs"][0]["sessionId"], session);
}

#[test]
fn a_session_that_runs_can_be_read_and_is_called_running() {
    let stage = Stage::new();
    let (ready, go) = (stage.path("ready"), stage.path("go"));
    let script =
        json!([{"say": "so far"}, {"touch": ready}, {"waitForFile": go}, {"reply": "done"}]);
    let owner = stage.delegate(&call(&[("busy", script)])).spawn();
    pi_subagents_testkit::wait_for_file(&ready, std::time::Duration::from_mins(1));
    let status = stage.command(&["status", "--json"]).run().json();
    let session = status["runs"][0]["sessionId"].as_str().unwrap();
    let read = stage.command(&["session", session, "--json"]).run().json();
    let output = stage.command(&["output", session]).run();
    fs::write(go, "").unwrap();
    _ = owner.wait().expect_success();
    assert_eq!(read["runs"][0]["status"], "running");
    assert_eq!(read["runs"][0].get("exitCode"), None);
    insta::assert_snapshot!(output, @"
    --- exit code
    5
    [EOF]
    --- stdout
    so far
    [EOF]
    --- stderr
    ! busy is still running; this is what it has said so far. pi-subagents wait <session-1> waits for its end.
    [EOF]
    ");
    let after = stage.command(&["session", session, "--json"]).run().json();
    assert_eq!(after["runs"][0]["status"], "completed");
    assert_eq!(after["runs"][0]["exitCode"], 0);
}
