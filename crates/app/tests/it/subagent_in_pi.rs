//! `subagent` called by a pi: its models are known, and prompts ask its own.

use std::time::Duration;

use pi_subagents_testkit::llm::{Script, Turn};
use pi_subagents_testkit::sandbox::RunningCommand;
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::subagent_stage::SubagentStage;

/// Returns the answer of the tool to a pi that talks to `fake/other-model`.
fn execute(
    stage: &SubagentStage,
    host: &mut RunningCommand,
    number: usize,
    arguments: &Value,
) -> Value {
    let caller = json!({
        "cwd": stage.stage.sandbox.project(), "mode": "tui", "hasUI": false, "trusted": false, "hasTrustQuestion": false,
        "model": "fake/other-model", "models": ["fake/fake-model", "fake/other-model"],
        "activeTools": ["read", "bash", "subagent"], "skills": [],
        "pi": {"execPath": "/no/such/node", "version": "0.87.1"},
    });
    let params = json!({
        "callId": number.to_string(), "tool": "subagent", "arguments": arguments, "caller": caller
    });
    let request =
        json!({"jsonrpc": "2.0", "id": number, "method": "tool/execute", "params": params});
    assert!(host.write_line(&request.to_string()));
    let begin = format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},");
    let answered = || {
        let output = host.stdout();
        let mut lines = output.split_inclusive('\n');
        let line = lines.find(|line| line.starts_with(&begin) && line.ends_with('\n'))?;
        Some(serde_json::from_str(line).unwrap())
    };
    wait_until(Duration::from_mins(1), answered).unwrap_or_else(|| panic!("{}", host.stdout()))
}

#[test]
fn models_are_resolved_among_those_of_the_caller() {
    let stage = SubagentStage::new(Script::new().otherwise([Turn::text("ok")]));
    let models = json!({"providers": {"fake": {
        "baseUrl": stage.server.base_url(), "api": "openai-completions", "apiKey": "test-key",
        "models": [{"id": "fake-model"}, {"id": "other-model"}],
    }}});
    let models_json = "home/.pi/agent/models.json";
    stage.stage.sandbox.write(models_json, &models.to_string());
    let embedded = "runner: embedded";
    stage.define(
        "subagents",
        "preset",
        &format!("{embedded}\nmodel: fake-model"),
        "",
    );
    stage.define(
        "agents",
        "prompt",
        &format!("{embedded}\nfinalize: false"),
        "",
    );
    stage.define(
        "agents",
        "denied",
        &format!("{embedded}\nfinalize: false\ndenied_tools: [bash]"),
        "",
    );
    let mut host = stage.stage.command(&["host"]).spawn();
    let mut number = 0;
    let mut asked = |arguments: Value| {
        number += 1;
        let answer = execute(&stage, &mut host, number, &arguments);
        let directory = answer["result"]["details"]["runs"][0]["directory"].clone();
        let directory = directory.as_str().unwrap_or_else(|| panic!("{answer}"));
        let meta = std::fs::read_to_string(format!("{directory}/meta.json")).unwrap();
        let meta: Value = serde_json::from_str(&meta).unwrap();
        let model = stage.server.requests().pop().unwrap().body["model"].clone();
        json!([meta["requestedModel"], meta["resolvedModel"], model])
    };
    assert_eq!(
        asked(json!({"preset": "preset", "task": "x"})),
        json!(["fake-model", "fake/fake-model", "fake-model"])
    );
    assert_eq!(
        asked(json!({"preset": "preset", "task": "x", "model": "other-model"})),
        json!(["other-model", "fake/other-model", "other-model"])
    );
    assert_eq!(
        asked(json!({"agent": "prompt", "task": "x"})),
        json!(["fake/other-model", "fake/other-model", "other-model"])
    );
    // The caller's tools, without those that are denied and those that are ours, and the one for
    // questions that the caller's model can answer.
    asked(json!({"agent": "denied", "task": "x"}));
    assert_eq!(stage.last_tools(), ["read", "ask_parent"]);
    host.close_stdin();
    _ = host.wait().expect_success();
}

#[test]
fn a_model_of_a_new_user_can_use_the_plain_sub_agent_at_once() {
    let stage = SubagentStage::new(Script::new().otherwise([Turn::text("Here it is.")]));
    stage.stage.settings(&json!({"runner": "embedded"}));
    let mut host = stage.stage.command(&["host"]).spawn();
    let arguments = json!({"preset": "default", "task": "find it", "model": "fake/fake-model"});
    let answer = execute(&stage, &mut host, 1, &arguments);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("---\n\nHere it is."), "{answer}");
    // The child has its default tools, and the caller's model can answer its questions.
    let tools = ["read", "bash", "edit", "write", "ask_parent"];
    assert_eq!(stage.last_tools(), tools);
    host.close_stdin();
    _ = host.wait().expect_success();
}
