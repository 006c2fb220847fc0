//! Steps that write down what the child was given.

use std::fs;

use pi_subagents_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use super::stage::{misbehave, prompt};

#[test]
fn it_dumps_its_environment_arguments_descriptors_and_directory() {
    let sandbox = Sandbox::new();
    let file = |name: &str| sandbox.root().join(name);
    let script = json!([
        {"dumpEnv": file("env")},
        {"dumpArgs": file("args")},
        {"dumpFds": file("fds")},
        {"dumpCwd": file("cwd")},
    ]);
    misbehave(&sandbox)
        .args(["--model", "fake/fake-model"])
        .env("PI_SUBAGENTS_CHILD", "1")
        .stdin(prompt(&script) + "\n")
        .run()
        .expect_success();
    let read = |name: &str| fs::read_to_string(file(name)).unwrap();
    let parsed = |name: &str| serde_json::from_str::<Value>(&read(name)).unwrap();
    assert_eq!(parsed("env")["PI_SUBAGENTS_CHILD"], "1");
    assert_eq!(
        parsed("args"),
        json!([
            "--mode",
            "rpc",
            "--no-session",
            "--model",
            "fake/fake-model"
        ])
    );
    for number in ["0", "1", "2"] {
        let target = &parsed("fds")[number];
        assert!(target.as_str().unwrap().starts_with("pipe:"), "{target}");
    }
    assert_eq!(sandbox.normalise(&read("cwd")), "$PROJECT");
}

#[test]
fn it_keeps_the_session_file_it_was_given() {
    let sandbox = Sandbox::new();
    let file = sandbox.root().join("session.jsonl");
    let script =
        json!([{"say": "unwritten"}, {"keepSession": true}, {"say": "one"}, {"say": "two"}]);
    misbehave(&sandbox)
        .arg("--session")
        .arg(&file)
        .stdin(prompt(&script) + "\n")
        .run()
        .expect_success();
    let text = fs::read_to_string(file).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let said: Vec<&Value> = lines
        .iter()
        .map(|line| &line["message"]["content"][0]["text"])
        .collect();
    assert_eq!(lines[0]["type"], "session");
    assert_eq!(said, [&json!(null), &json!("one"), &json!("two")]);
    assert_eq!(lines[2]["parentId"], lines[1]["id"]);
}
