//! Sessions on disk: what is written, and what comes back.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::testing::{Sandbox, echo, normalized, outline};

fn entries(text: &str) -> Vec<Value> {
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

#[tokio::test]
async fn a_session_is_written_with_its_first_answer_and_forms_a_chain() {
    let sandbox = Sandbox::new();
    let file = sandbox.path("sessions/s.jsonl");
    let flags = format!("{} --session {}", sandbox.script(&echo()), file.display());
    let mut bench = sandbox.agent(&flags).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "");
    bench.prompt("hi").await;
    let entries = entries(&fs::read_to_string(&file).unwrap());
    let kinds: Vec<&str> = entries
        .iter()
        .map(|entry| entry["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "session",
            "model_change",
            "thinking_level_change",
            "message",
            "message",
            "message"
        ]
    );
    assert_eq!(entries[0]["version"], 3);
    assert_eq!(entries[0]["cwd"], json!(sandbox.path("project")));
    assert_eq!(entries[1]["parentId"], Value::Null);
    for pair in entries[1..].windows(2) {
        assert_eq!(pair[1]["parentId"], pair[0]["id"]);
        assert_eq!(pair[0]["id"].as_str().unwrap().len(), 8);
    }
}

#[tokio::test]
async fn a_resumed_session_keeps_its_context_and_its_directory() {
    let sandbox = Sandbox::new();
    let file = sandbox.path("s.jsonl");
    let session = format!("--session {}", file.display());
    let flags = format!("{} {session}", sandbox.script(&echo()));
    sandbox.agent(&flags).unwrap().prompt("one").await;

    // A crash in the middle of a line, and a line that nobody knows.
    let mut text = fs::read_to_string(&file).unwrap();
    text += "{\"type\":\"novelty\"}\n{\"type\":\"mess";
    fs::write(&file, text).unwrap();
    fs::create_dir(sandbox.path("elsewhere")).unwrap();

    let mut bench = sandbox.agent(&session).unwrap();
    assert_eq!(bench.agent.setup.cwd, sandbox.path("project"));
    let events = bench.prompt("two").await;
    insta::assert_snapshot!(outline(&events), @r#"
    agent_start
    turn_start
    message role="user" "two"
    streamed role="assistant" stopReason="stop" "You said two."
    turn_end
    agent_end willRetry=false
    agent_settled
    "#);
    let roles = ["system", "user", "assistant", "user", "assistant"];
    assert_eq!(bench.roles(), roles);
    drop(bench);
    assert_eq!(sandbox.agent(&session).unwrap().roles(), roles);
}

#[tokio::test]
async fn other_tools_on_resume_are_told_as_a_difference() {
    let sandbox = Sandbox::new();
    let file = sandbox.path("s.jsonl");
    let session = format!("--session {}", file.display());
    let first = format!("{} {session} --tools read,bash", sandbox.script(&echo()));
    sandbox.agent(&first).unwrap().prompt("one").await;
    let events = sandbox
        .agent(&format!("{session} --tools read,ls"))
        .unwrap()
        .prompt("two")
        .await;
    let system = &events[2]["message"];
    assert_eq!(system["role"], "system");
    assert_eq!(system["toolsRemoved"], json!([{"name": "bash"}]));
    assert_eq!(system["toolsAdded"][0]["name"], "ls");
    assert_eq!(system["toolsAdded"][1], Value::Null);
    assert!(
        system["sections"]["preamble"].is_null(),
        "the preamble has not changed"
    );
}

#[tokio::test]
async fn an_interrupted_call_is_answered_for_the_model() {
    let sandbox = Sandbox::new();
    let cwd = sandbox.path("project");
    let lines = [
        json!({"type": "session", "version": 3, "id": "abc", "timestamp": "t", "cwd": cwd}),
        json!({"type": "message", "id": "1", "parentId": null, "message": {"role": "user", "content": "go"}}),
        json!({"type": "message", "id": "2", "parentId": "1", "message": {
            "role": "assistant", "stopReason": "toolUse", "provider": "scripted", "model": "tour",
            "content": [{"type": "toolCall", "id": "c", "name": "bash", "arguments": {}}]}}),
        json!({"type": "message", "id": "x", "parentId": "1", "message": {"role": "user", "content": "other branch"}}),
        json!({"type": "message", "id": "3", "parentId": "2", "message": {
            "role": "assistant", "stopReason": "error", "content": []}}),
        json!({"type": "context_edit", "id": "4", "parentId": "3", "targetId": "3", "replacement": null}),
        json!({"type": "session_info", "id": "5", "parentId": "4", "name": "mine"}),
    ];
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let file = sandbox.write("s.jsonl", text.join("\n") + "\n");
    let bench = sandbox
        .agent(&format!(
            "--model scripted/tour --session {}",
            file.display()
        ))
        .unwrap();
    let conversation = bench.agent.conversation.borrow();
    assert_eq!(conversation.session_id(), "abc");
    assert_eq!(conversation.name.as_deref(), Some("mine"));
    let shown: Vec<Value> = conversation
        .for_model()
        .iter()
        .map(|message| {
            let message = json!(message.as_ref());
            json!([message["role"], message["content"][0]["text"]])
        })
        .collect();
    assert_eq!(
        shown,
        [
            json!(["user", "go"]),
            json!(["assistant", null]),
            json!(["toolResult", "No result provided"]),
        ]
    );
}

#[tokio::test]
async fn a_session_has_one_writer() {
    let sandbox = Sandbox::new();
    let file = sandbox.path("s.jsonl");
    let flags = format!("{} --session {}", sandbox.script(&echo()), file.display());
    let mut first = sandbox.agent(&flags).unwrap();
    let refusal = sandbox.agent(&flags).err().unwrap();
    insta::assert_snapshot!(normalized(&refusal, &sandbox.path("")), @"Session file ROOT/s.jsonl is in use by another process");
    first.prompt("one").await;
    drop(first);
    sandbox.agent(&flags).unwrap().prompt("two").await;
}

#[tokio::test]
async fn sessions_without_a_path_are_where_pi_keeps_them() {
    let sandbox = Sandbox::new();
    let script = sandbox.script(&echo());
    sandbox.agent(&script).unwrap().prompt("one").await;
    let folder = sandbox.path("project").display().to_string();
    let folder = format!("--{}--", folder.trim_start_matches('/').replace('/', "-"));
    let folder = sandbox.path("agent/sessions").join(folder);
    let files: Vec<_> = fs::read_dir(&folder).unwrap().flatten().collect();
    assert_eq!(files.len(), 1);
    let known = |flags: &str| {
        let bench = sandbox.agent(&format!("{script} {flags}")).unwrap();
        let conversation = bench.agent.conversation.borrow();
        (
            conversation.session_id().to_owned(),
            conversation.messages().len(),
        )
    };
    let (id, messages) = known("-c");
    assert_eq!(messages, 3);
    assert!(
        files[0]
            .path()
            .display()
            .to_string()
            .ends_with(&format!("_{id}.jsonl"))
    );
    assert_eq!(known(&format!("--session {}", &id[..13])), (id.clone(), 3));
    assert_eq!(known("--session-id mine"), ("mine".to_owned(), 0));
    assert_eq!(known("--no-session").1, 0);
}

#[test]
fn a_file_that_is_no_session_is_refused() {
    let sandbox = Sandbox::new();
    let garbage = sandbox.write("garbage.jsonl", "hello\n");
    let gone =
        json!({"type": "session", "version": 3, "id": "a", "timestamp": "t", "cwd": "/no/such"});
    let gone = sandbox.write("gone.jsonl", gone.to_string());
    let refusal = |file: &std::path::Path| {
        let flags = format!("--model scripted/tour --session {}", file.display());
        let refusal = sandbox.agent(&flags).err().unwrap();
        normalized(&refusal, &sandbox.path(""))
    };
    insta::assert_snapshot!(format!("{}\n{}", refusal(&garbage), refusal(&gone)), @"
    ROOT/garbage.jsonl is not a session file
    The working directory of session ROOT/gone.jsonl does not exist: /no/such
    ");
}
