//! The owner-wide limit on children.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::time::Duration;

use crate::stage::{Stage, outcomes};

fn sixteen_tasks() -> Value {
    let tasks: Vec<Value> = (0..16)
        .map(|n| json!({"name": format!("t{n}"), "prompt": format!("task {n}")}))
        .collect();
    json!({"tasks": tasks})
}

/// Runs sixteen tasks whose model answers only when `released` of them wait for it at once.
fn most_at_once(extra: &[&str], released: usize) -> (usize, Vec<String>) {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("done").gate("all here")]));
    stage.sandbox.models_json(&server.base_url());
    let running = stage
        .delegate_to("embedded", &sixteen_tasks())
        .args(extra)
        .spawn();
    server.wait_for_requests(released, Duration::from_mins(1));
    server.release("all here");
    let output = running.wait().expect_success();
    let names = outcomes(&output).into_iter().map(|run| run.name).collect();
    (server.max_concurrent(), names)
}

#[test]
fn a_limit_holds_and_the_answers_come_in_order() {
    let (most, names) = most_at_once(&["--concurrency", "4"], 4);
    assert_eq!(most, 4);
    let in_order: Vec<String> = (0..16).map(|n| format!("t{n}")).collect();
    assert_eq!(names, in_order);
}

#[test]
fn sixteen_run_at_once_unless_somebody_says_otherwise() {
    assert_eq!(most_at_once(&[], 16).0, 16);
}

#[test]
fn waiting_tasks_start_in_order() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("done")]));
    stage.sandbox.models_json(&server.base_url());
    _ = stage
        .delegate_to("embedded", &sixteen_tasks())
        .args(["--concurrency", "1"])
        .run()
        .expect_success();
    let asked: Vec<String> = server
        .requests()
        .iter()
        .map(|request| {
            let messages = request.body["messages"].as_array().unwrap();
            let last = &messages[messages.len() - 1]["content"];
            match last {
                Value::String(text) => text.clone(),
                parts => parts[0]["text"].as_str().unwrap().to_owned(),
            }
        })
        .collect();
    let in_order: Vec<String> = (0..16).map(|n| format!("task {n}")).collect();
    assert_eq!(asked, in_order);
}
