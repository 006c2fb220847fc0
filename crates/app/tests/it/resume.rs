//! Going on where a run ended.

use std::fs;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, call};

fn first_session(answer: &Value) -> String {
    answer["details"]["sessionIds"][0]
        .as_str()
        .unwrap()
        .to_owned()
}

/// What the model was asked last in a request.
fn asked(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap();
    match &messages[messages.len() - 1]["content"] {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap().to_owned(),
    }
}

#[test]
fn a_resumed_run_gets_the_transcript_and_transcripts_do_not_nest() {
    let stage = Stage::new();
    stage
        .sandbox
        .write("project/notes.txt", "remember the milk");
    let server = LlmServer::start(
        Script::new()
            .on(
                "first",
                [
                    Turn::tool_call("read", json!({"path": "notes.txt"})).thinking("hm"),
                    Turn::text("It says milk."),
                ],
            )
            .otherwise([Turn::text("second answer"), Turn::text("third answer")]),
    );
    stage.sandbox.models_json(&server.base_url());
    let first = stage
        .command(&[
            "delegate",
            "--task",
            "reader=first: read the notes",
            "--runner",
            "embedded",
            "--json",
        ])
        .run()
        .expect_success();
    let session = first_session(&first.json());
    for prompt in ["and now?", "and then?"] {
        _ = stage
            .command(&["resume", &session, prompt, "--runner", "embedded"])
            .run()
            .expect_success();
    }
    let requests = server.requests();
    assert_eq!(
        asked(&requests[requests.len() - 1].body),
        "\
Previously:

--- Run 1 (completed, 4 messages) ---
User: first: read the notes
Tool Call: read({\"path\":\"notes.txt\"})
Tool Result: remember the milk
Assistant: It says milk.

--- Run 2 (completed, 2 messages) ---
User: and now?
Assistant: second answer

Instructions:

and then?"
    );
    let transcript = stage.command(&["session", &session]).run();
    assert_eq!(
        transcript.stdout,
        "\
=== Run 1/3 (completed) ===
first: read the notes
→ read: {\"path\":\"notes.txt\"}
[tool result]: remember the milk
It says milk.
---
=== Run 2/3 (completed) ===
and now?
second answer
---
=== Run 3/3 (completed) ===
and then?
third answer
"
    );
    assert_eq!(
        stage.command(&["output", &session]).run().stdout,
        "third answer\n"
    );
}

#[test]
fn with_the_setting_the_child_continues_its_own_session() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("one"), Turn::text("two")]));
    stage.sandbox.models_json(&server.base_url());
    let settings = stage.sandbox.agent_dir().join("settings.json");
    let mut value: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    value["subagents"] = json!({"resume": "session", "runner": "embedded"});
    fs::write(&settings, value.to_string()).unwrap();
    let first = stage
        .command(&["delegate", "--task", "a=first prompt", "--json"])
        .run()
        .expect_success();
    let session = first_session(&first.json());
    _ = stage
        .command(&["resume", &session, "second", "prompt"])
        .run()
        .expect_success();
    let requests = server.requests();
    let roles: Vec<Value> = requests[1].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(asked(&requests[1].body), "second prompt");
    assert_eq!(&roles[1..], ["user", "assistant", "user"]);
}

#[test]
fn a_session_that_runs_or_is_resumed_twice_in_a_call_is_refused() {
    let stage = Stage::new();
    let first = stage
        .delegate(&call(&[("a", json!([{"reply": "x"}]))]))
        .run();
    let session = first_session(&first.json());
    let task = json!({"name": "b", "prompt": "p", "resume": session});
    let output = stage.delegate(&json!({"tasks": [task, task]})).run();
    assert_eq!(output.code, Some(2));
    assert_eq!(
        output.json()["error"]["message"],
        json!(format!(
            "Cannot resume: session \"{session}\" is still running. Wait for it to complete before resuming."
        ))
    );
    let runs =
        stage.command(&["status", "--all", "--json"]).run().json()["counts"]["total"].clone();
    assert_eq!(runs, json!(1));
}
