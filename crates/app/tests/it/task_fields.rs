//! Every field of a task, and its effect on the child.

use std::fs;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, asked};

/// A task with these fields whose child writes down where and how it was started.
fn witness(stage: &Stage, name: &str, fields: &Value) -> Value {
    let script = json!([
        {"dumpCwd": stage.path(&format!("{name}.cwd"))},
        {"dumpArgs": stage.path(&format!("{name}.args"))},
        {"reply": "seen"}
    ]);
    let mut task = json!({"name": name, "prompt": script.to_string()});
    task.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    task
}

/// Returns the child's view of its task, and the answer's fields about it.
fn seen(stage: &Stage, window: &Value) -> String {
    let name = window["name"].as_str().unwrap();
    let read = |kind: &str| fs::read_to_string(stage.path(&format!("{name}.{kind}"))).unwrap();
    let arguments: Vec<String> = serde_json::from_str(&read("args")).unwrap();
    let place = |text: &str| text.replace(&stage.sandbox.root().display().to_string(), "$SANDBOX");
    let arguments = stage.sandbox.normalise(&arguments.join(" "));
    format!(
        "{name}: profile {}, timeout {}, files {}\n  in {}\n  {arguments}\n",
        window["profileName"].as_str().unwrap_or("none"),
        window["timeout"],
        window["fileCount"],
        place(read("cwd").trim()),
    )
}

#[test]
fn every_field_of_a_task_reaches_its_child() {
    let stage = Stage::new();
    stage.sandbox.write("project/sub/a.txt", "a\n");
    stage.sandbox.write("project/x", "x\n");
    stage.profile("base", "model: fake/small", "");
    stage.profile("own", "model: fake/large\ntimeout: 45", "Do it well.");
    let sub = stage.sandbox.project().join("sub");
    let task = |name: &str, fields: Value| witness(&stage, name, &fields);
    let call = json!({"profile": "base", "tasks": [
        task("default", json!({})),
        task("nothing", json!({"cwd": null, "profile": null, "timeout": null, "resume": null, "files": null})),
        task("empty", json!({"cwd": "", "profile": "", "timeout": "", "resume": "", "files": ""})),
        task("cwd", json!({"cwd": sub, "files": "a.txt"})),
        task("profile", json!({"profile": "own"})),
        task("timeout", json!({"timeout": 5, "profile": "own"})),
        task("words", json!({"timeout": "7.5", "files": [{"path": "x", "head": "3"}]})),
    ]});
    let output = stage.delegate_with_details(&call).run().expect_success();
    let answer = output.json();
    let windows = answer["windows"].as_array().unwrap();
    let table: String = windows.iter().map(|window| seen(&stage, window)).collect();
    insta::assert_snapshot!(table, @"
    default: profile base, timeout 600, files 0
      in $SANDBOX/project
      --mode rpc --session $PROJECT/.pi/subagents/runs/<run-1>/child-session.jsonl --model fake/small --no-approve --no-context-files
    nothing: profile base, timeout 600, files 0
      in $SANDBOX/project
      --mode rpc --session $PROJECT/.pi/subagents/runs/<run-2>/child-session.jsonl --model fake/small --no-approve --no-context-files
    empty: profile base, timeout 600, files 0
      in $SANDBOX/project
      --mode rpc --session $PROJECT/.pi/subagents/runs/<run-3>/child-session.jsonl --model fake/small --no-approve --no-context-files
    cwd: profile base, timeout 600, files 1
      in $SANDBOX/project/sub
      --mode rpc --session $PROJECT/.pi/subagents/runs/<run-4>/child-session.jsonl --model fake/small --no-approve --no-context-files
    profile: profile own, timeout 45, files 0
      in $SANDBOX/project
      --mode rpc --session $PROJECT/.pi/subagents/runs/<run-5>/child-session.jsonl --model fake/large --system-prompt $PROJECT/.pi/subagents/runs/<run-5>/system-prompt.md --no-approve --no-context-files
    timeout: profile own, timeout 5, files 0
      in $SANDBOX/project
      --mode rpc --session $PROJECT/.pi/subagents/runs/<run-6>/child-session.jsonl --model fake/large --system-prompt $PROJECT/.pi/subagents/runs/<run-6>/system-prompt.md --no-approve --no-context-files
    words: profile base, timeout 7.5, files 1
      in $SANDBOX/project
      --mode rpc --session $PROJECT/.pi/subagents/runs/<run-7>/child-session.jsonl --model fake/small --no-approve --no-context-files
    ");
}

#[test]
fn without_a_profile_the_child_has_only_the_flags_of_the_engine() {
    let stage = Stage::new();
    let task = witness(&stage, "plain", &json!({}));
    let output = stage
        .delegate_with_details(&json!({"tasks": [task]}))
        .run()
        .expect_success();
    insta::assert_snapshot!(seen(&stage, &output.json()["windows"][0]), @"
    plain: profile none, timeout 600, files 0
      in $SANDBOX/project
      --mode rpc --session $PROJECT/.pi/subagents/runs/<run-1>/child-session.jsonl --no-approve --no-context-files
    ");
}

/// `files` of a task, and the text that they put before its prompt.
const FILES: &[(&str, &str)] = &[
    ("[]", ""),
    (
        r#"["notes.txt"]"#,
        "=== notes.txt ===\none\ntwo\nthree\nfour\n\n",
    ),
    (
        r#""no-newline.txt""#,
        "=== no-newline.txt ===\nleft open\n\n",
    ),
    (
        r#"[{"path": "notes.txt", "start": 2, "end": 3}]"#,
        "=== notes.txt ===\ntwo\nthree\n\n",
    ),
    (
        r#"[{"path": "notes.txt", "start": 3}]"#,
        "=== notes.txt ===\nthree\nfour\n\n",
    ),
    (
        r#"[{"path": "notes.txt", "end": 2}]"#,
        "=== notes.txt ===\none\ntwo\n\n",
    ),
    (
        r#"[{"path": "notes.txt", "start": 9}]"#,
        "=== notes.txt ===\n\n\n",
    ),
    (
        r#"[{"path": "notes.txt", "start": 3, "end": 2}]"#,
        "=== notes.txt ===\n\n\n",
    ),
    (
        r#"[{"path": "notes.txt", "head": 1, "start": 3}]"#,
        "=== notes.txt ===\none\n\n",
    ),
    (
        r#"[{"path": "notes.txt", "tail": 2, "head": 1}]"#,
        "=== notes.txt ===\nthree\nfour\n\n",
    ),
    (
        r#"[{"path": "notes.txt", "tail": 99}]"#,
        "=== notes.txt ===\none\ntwo\nthree\nfour\n\n",
    ),
    (
        r#"["src", {"path": "bytes.bin", "head": 1}]"#,
        "[could not read file: src]\n\n[could not read file: bytes.bin]\n\n",
    ),
    (
        r#"["large.txt"]"#,
        "[file too large: large.txt (1025KB, limit 1024KB)]\n\n",
    ),
    (
        r#"["no-newline.txt", "notes.txt", "ABSOLUTE"]"#,
        "=== no-newline.txt ===\nleft open\n\n=== notes.txt ===\none\ntwo\nthree\nfour\n\n=== ABSOLUTE ===\nfar away\n\n",
    ),
];

#[test]
fn files_stand_before_the_prompt_in_their_order() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    stage.sandbox.models_json(&server.base_url());
    let work = stage.sandbox.root().join("work");
    stage
        .sandbox
        .write("work/notes.txt", "one\ntwo\nthree\nfour\n");
    stage.sandbox.write("work/no-newline.txt", "left open");
    stage.sandbox.write("work/src/a.rs", "");
    stage
        .sandbox
        .write("work/large.txt", &"x".repeat((1 << 20) + 1));
    fs::write(work.join("bytes.bin"), b"\xff\xfe").unwrap();
    let absolute = stage.sandbox.write("elsewhere.txt", "far away\n");
    let absolute = absolute.display().to_string();
    let placed = |text: &str| text.replace("ABSOLUTE", &absolute);
    let tasks: Vec<Value> = FILES
        .iter()
        .enumerate()
        .map(|(row, (files, _))| {
            let files: Value = serde_json::from_str(&placed(files)).unwrap();
            json!({"name": files.to_string(), "prompt": format!("row {row}."), "files": files, "cwd": work})
        })
        .collect();
    let answer = stage
        .delegate_to("embedded", &json!({"tasks": tasks}))
        .run()
        .expect_success()
        .json();
    let warnings: Vec<&str> = answer["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    ["src",{"path":"bytes.bin","head":1}]: could not read file: src
    ["src",{"path":"bytes.bin","head":1}]: could not read file: bytes.bin
    ["large.txt"]: file too large: large.txt (1025KB, limit 1024KB)
    "#);
    let requests = server.requests();
    let told: Vec<String> = requests
        .iter()
        .map(|request| asked(&request.body))
        .collect();
    for (row, (files, before)) in FILES.iter().enumerate() {
        let prompt = format!("row {row}.");
        let found = told.iter().find(|text| text.ends_with(&prompt));
        assert_eq!(found, Some(&(placed(before) + &prompt)), "{files}");
    }
    assert_eq!(told.len(), FILES.len());
}

#[test]
fn a_prompt_reaches_the_model_byte_for_byte() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    stage.sandbox.models_json(&server.base_url());
    let prompts = [
        "-p --version".to_owned(),
        "--help".to_owned(),
        "@notes.txt".to_owned(),
        "/compact".to_owned(),
        "!ls".to_owned(),
        "\n\n  blank lines around  \n\n".to_owned(),
        "tab\tnull\u{1}escape\u{1b}[31m 日本語 👩‍👩‍👧 e\u{301} \\n \"quoted\"".to_owned(),
        "long ".repeat(200_000),
    ];
    let tasks: Vec<Value> = prompts
        .iter()
        .map(|prompt| json!({"name": "p", "prompt": prompt}))
        .collect();
    _ = stage
        .delegate_to("embedded", &json!({"tasks": tasks}))
        .run()
        .expect_success();
    let mut told: Vec<String> = server.requests().iter().map(|it| asked(&it.body)).collect();
    told.sort();
    let mut expected = prompts.to_vec();
    expected.sort();
    assert!(told == expected, "{:?}", told.iter().map(String::len));
}

#[test]
fn a_file_that_is_not_there_ends_its_task_before_a_token_is_paid() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    stage.sandbox.models_json(&server.base_url());
    let lost = json!({"name": "lost", "prompt": "Read it.", "files": [{"path": "nope.md"}]});
    let fine = json!({"name": "fine", "prompt": "Do it."});
    let alone = stage
        .delegate_to("embedded", &json!({"tasks": [lost]}))
        .run();
    assert_eq!(alone.code, Some(2), "{alone}");
    let message = &alone.json()["runs"][0]["errorMessage"];
    assert_eq!(message, "file not found: nope.md");
    assert_eq!(server.requests().len(), 0);
    let both = stage
        .delegate_to("embedded", &json!({"tasks": [lost, fine]}))
        .run();
    assert_eq!(both.code, Some(4), "{both}");
    assert_eq!(server.requests().len(), 1);
}
