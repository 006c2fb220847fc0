//! Sessions on disk: writing, and reading back.

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

    // A crash in the middle of a line, and a line of an unknown type.
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
    insta::assert_snapshot!(normalized(&refusal.to_string(), &sandbox.path("")), @"Session file ROOT/s.jsonl is in use by another process");
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
        normalized(&refusal.to_string(), &sandbox.path(""))
    };
    insta::assert_snapshot!(format!("{}\n{}", refusal(&garbage), refusal(&gone)), @"
    ROOT/garbage.jsonl is not a session file
    The working directory of session ROOT/gone.jsonl does not exist: /no/such
    ");
}

/// Returns a session as pi 1.5 writes it: killed in its first wait, continued, with a call whose
/// arguments were no JSON and a call that called others.
fn session_of_pi_1_5(cwd: &std::path::Path) -> String {
    let system = json!({"role": "system", "content": "Be good.", "timestamp": 1,
        "sections": {"preamble": "Be good."}, "toolsAdded": [{"name": "bash", "description": "Runs.", "parameters": {}}]});
    let answer = |content: Value, reason: &str| {
        json!({"role": "assistant", "content": content, "api": "openai-completions",
            "provider": "fake", "model": "m", "stopReason": reason, "timestamp": 3,
            "durationMs": 12, "thinkingLevel": "low",
            "usage": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.5, "totalFromProvider": true}}})
    };
    let messages = [
        system,
        json!({"role": "user", "content": [{"type": "text", "text": "one"}], "timestamp": 2}),
        json!({"role": "user", "content": [{"type": "text", "text": "two"}], "timestamp": 3}),
        answer(
            json!([{"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {},
            "argumentsError": "Unexpected token: {\"comm"}]),
            "toolUse",
        ),
        json!({"role": "toolResult", "toolCallId": "call_1", "toolName": "bash", "isError": true,
            "content": [{"type": "text", "text": "the arguments were no JSON"}], "timestamp": 4}),
        answer(
            json!([{"type": "toolCall", "id": "call_2", "name": "codemode", "arguments": {"code": "x"}}]),
            "toolUse",
        ),
        json!({"role": "toolResult", "toolCallId": "call_2", "toolName": "codemode", "isError": false,
            "durationMs": 5, "content": [{"type": "text", "text": "from within"}], "timestamp": 5,
            "nestedCalls": [{"id": "call_2/1", "name": "bash", "arguments": {"command": "ls"}, "isError": false}]}),
        answer(json!([{"type": "text", "text": "Done."}]), "stop"),
    ];
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": "of-pi", "timestamp": "2026-11-01T00:00:00.000Z", "cwd": cwd}),
    ];
    let mut parent = Value::Null;
    for (number, message) in messages.into_iter().enumerate() {
        let id = json!(format!("0000000{number}"));
        lines.push(json!({"type": "message", "id": id, "parentId": parent,
            "timestamp": "2026-11-01T00:00:00.000Z", "message": message}));
        parent = id;
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

#[tokio::test]
async fn a_session_of_pi_1_5_is_continued_and_left_as_it_was() {
    let sandbox = Sandbox::new();
    let before = session_of_pi_1_5(&sandbox.path("project"));
    let file = sandbox.write("s.jsonl", &before);
    let flags = format!("{} --session {}", sandbox.script(&echo()), file.display());
    let mut bench = sandbox.agent(&flags).unwrap();
    let events = bench.prompt("three").await;
    assert_eq!(
        crate::testing::messages_of("assistant", &events)[0]["content"][0]["text"],
        "You said three."
    );
    let told = bench.agent.conversation.borrow().for_model();
    let told: Vec<String> = told.iter().map(|one| json!(**one).to_string()).collect();
    for part in ["one", "two", "no JSON", "from within", "Done.", "three"] {
        assert!(
            told.iter().any(|message| message.contains(part)),
            "{part}: {told:?}"
        );
    }
    drop(bench);
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.starts_with(&before), "what pi wrote is not touched");
    let added = entries(&after[before.len()..]);
    let last_of_pi = entries(&before).pop().unwrap();
    assert_eq!(added[0]["parentId"], last_of_pi["id"]);
}

#[tokio::test]
async fn a_session_that_pi_left_before_its_first_answer_is_continued() {
    let sandbox = Sandbox::new();
    let whole = session_of_pi_1_5(&sandbox.path("project"));
    let begun: Vec<&str> = whole.split_inclusive('\n').take(3).collect();
    let begun = begun.concat();
    let file = sandbox.write("s.jsonl", &begun);
    let flags = format!("{} --session {}", sandbox.script(&echo()), file.display());
    let mut bench = sandbox.agent(&flags).unwrap();
    bench.prompt("again").await;
    let roles = bench.roles();
    let users = roles.iter().filter(|role| *role == "user");
    assert_eq!(users.count(), 2, "both prompts are sent, as pi does");
    assert_eq!(roles.last().unwrap(), "assistant");
}
