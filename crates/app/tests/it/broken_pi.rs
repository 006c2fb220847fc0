//! A pi that does not start does not count, whatever it prints.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::{CommandOutput, SandboxCommand};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, completed, outcomes};

/// The output of a pi whose Node is too old.
const CRASH: &str = "echo 'SyntaxError: Invalid regular expression flags' >&2; echo >&2; echo 'Node.js v20.20.2' >&2; exit 1";

/// A stage with a `pi` that is started by a `node`, both on PATH.
fn stage() -> (Stage, LlmServer) {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    stage.sandbox.models_json(&server.base_url());
    program(&stage, "pi", "exec node \"$@\"");
    (stage, server)
}

fn program(stage: &Stage, name: &str, does: &str) {
    stage
        .sandbox
        .program(&format!("bin/{name}"), &format!("#!/bin/sh\n{does}\n"));
}

fn with_path(stage: &Stage, command: SandboxCommand) -> SandboxCommand {
    let bin = stage.path("bin");
    command
        .env_remove("PI_SUBAGENTS_PI")
        .env("PATH", format!("{bin}:/usr/bin:/bin"))
}

fn delegated(stage: &Stage, runner: &str) -> CommandOutput {
    let task = json!({"tasks": [{"name": "a", "prompt": "hello"}]});
    with_path(stage, stage.delegate_to(runner, &task)).run()
}

fn runner_check(stage: &Stage) -> (Value, Value) {
    let output = with_path(stage, stage.command(&["doctor", "--json"])).run();
    let checks = output.json()["checks"].clone();
    let mut checks = checks.as_array().unwrap().iter();
    let found = checks.find(|check| check["name"] == "runner").unwrap();
    (found["text"].clone(), found["hints"].clone())
}

fn why(pi: &str) -> String {
    format!(
        "{pi} --version failed (exit status: 1): SyntaxError: Invalid regular expression flags. Set PI_SUBAGENTS_PI to a pi that starts, or use --runner embedded."
    )
}

#[test]
fn a_pi_that_crashes_is_none_and_the_embedded_agent_works_in_its_place() {
    let (stage, _server) = stage();
    program(&stage, "node", CRASH);
    let why = why(&stage.path("bin/pi"));
    assert_eq!(
        runner_check(&stage),
        (
            json!("auto uses the embedded agent, because the installed pi does not start"),
            json!([why])
        )
    );
    let output = delegated(&stage, "auto");
    assert_eq!(outcomes(&output), [completed("a", "ok")]);
    let told = output.json()["text"].to_string();
    assert!(
        told.contains("pi cannot be used, so the embedded agent is used instead: "),
        "{told}"
    );
    let refused = delegated(&stage, "pi");
    let message = outcomes(&refused)[0].error.clone().unwrap();
    assert!(message.contains(&why), "{message}");
    let agent_dir = stage.sandbox.agent_dir();
    assert!(!agent_dir.join("subagents-pi-version.json").exists());
}

#[test]
fn what_was_remembered_of_a_pi_ends_with_another_node() {
    let (stage, _server) = stage();
    program(&stage, "node", "echo 1.5.0");
    let (text, _) = runner_check(&stage);
    let expected = format!(
        "auto uses pi 1.5.0 ({}); printing its version took ",
        stage.path("bin/pi")
    );
    let text = text.as_str().unwrap();
    assert!(text.starts_with(&expected), "{text}");
    program(&stage, "node", CRASH);
    let output = delegated(&stage, "auto");
    assert_eq!(outcomes(&output), [completed("a", "ok")]);
}

#[test]
fn a_pi_that_prints_more_than_a_pipe_holds_is_understood() {
    let (stage, _server) = stage();
    program(
        &stage,
        "node",
        "head -c 300000 /dev/zero | tr '\\0' x >&2; echo 1.5.0",
    );
    let (text, hints) = runner_check(&stage);
    assert!(text.to_string().contains("1.5.0"), "{text} {hints}");
}
