//! A killed owner loses no words of its child: the child's own session has them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::SandboxCommand;
use pi_subagents_testkit::{Signal, wait_until};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::Stage;
use crate::subagent_stage::SubagentStage;

const PATIENCE: Duration = Duration::from_mins(1);

/// Returns a model that writes something, waits at a gate, and then writes the rest.
fn script() -> Script {
    let look = |words: &str| Turn::text(words).and_tool_call("read", json!({"path": "notes.txt"}));
    Script::new().on(
        "what do they say",
        [
            look("I look."),
            look("I look again.").gate("go"),
            Turn::text("They say milk."),
        ],
    )
}

fn contains(file: &Path, words: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.contains(words))
}

fn wait_for_words(file: &Path, words: &str) {
    let come = wait_until(PATIENCE, || contains(file, words).then_some(()));
    assert!(come.is_some(), "no {words:?} in {}", file.display());
}

/// Kills an owner that could not write down the last words of its child. Returns the run's
/// directory.
fn kill_in_mid_run(stage: &Stage, server: &LlmServer, owner: SandboxCommand) -> PathBuf {
    let runs = stage.sandbox.project().join(".pi/subagents/runs");
    let known = fs::read_dir(&runs).map_or(0, Iterator::count);
    let owner = owner.spawn();
    let directory = wait_until(PATIENCE, || {
        let entries = fs::read_dir(&runs).ok()?;
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        entries.retain(|path| path.is_dir());
        entries.sort();
        let is_new = known == 0 || entries.len() >= known;
        entries.pop().filter(|_| is_new)
    });
    let directory = directory.unwrap();
    wait_for_words(&directory.join("events.jsonl"), "I look.");
    owner.kill(Signal::STOP);
    server.release("go");
    wait_for_words(&directory.join("child-session.jsonl"), "They say milk.");
    owner.kill(Signal::KILL);
    _ = owner.wait_for_exit();
    assert!(!contains(&directory.join("events.jsonl"), "They say milk."));
    directory
}

/// Checks that a person sees the run afterwards: everything, once and in order.
fn check(stage: &Stage, directory: &Path) {
    let run = directory.file_name().unwrap().to_str().unwrap();
    let output = stage.command(&["output", run]).run();
    // The words are there, and they are no finished answer: the run was interrupted.
    let read = (output.code, output.stdout.as_str());
    assert_eq!(read, (Some(5), "They say milk.\n"));
    let events = stage.command(&["events", run]).run().expect_success();
    let said: Vec<String> = events
        .json_lines()
        .iter()
        .filter(|event| event["type"] == "message_end" && event["message"]["role"] != "system")
        .map(|event| {
            let message = &event["message"];
            let content = message["content"].as_array().unwrap();
            let text = content.iter().find_map(|part| part["text"].as_str());
            let role = message["role"].as_str().unwrap();
            format!("{role}: {}", text.unwrap_or_default())
        })
        .collect();
    assert_eq!(
        said,
        [
            "user: what do they say?",
            "assistant: I look.",
            "toolResult: milk",
            "assistant: I look again.",
            "toolResult: milk",
            "assistant: They say milk.",
        ]
    );
    let last = events.json_lines().pop().unwrap();
    assert_eq!(last["type"], "run_ended");
    assert!(contains(
        &directory.join("transcript.log"),
        "They say milk."
    ));
}

fn a_killed_owner_loses_nothing_of(pi: RealPi, runner: &str) {
    let stage = Stage::new();
    stage.sandbox.write("project/notes.txt", "milk");
    let server = LlmServer::start(script());
    stage.sandbox.models_json(&server.base_url());
    let call = json!({"tasks": [{"name": "a", "prompt": "what do they say?"}]});
    let owner = delegate(pi, &stage, runner, &call);
    let directory = kill_in_mid_run(&stage, &server, owner);
    check(&stage, &directory);
}

fn a_killed_owner_loses_nothing_of_a_pi(pi: RealPi) {
    a_killed_owner_loses_nothing_of(pi, "pi");
}

for_each_pi!(a_killed_owner_loses_nothing_of_a_pi);

#[test]
fn a_killed_owner_loses_nothing_of_an_embedded_agent() {
    a_killed_owner_loses_nothing_of(RealPi::Older, "embedded");
}

#[test]
fn what_other_runs_said_in_a_shared_session_is_theirs() {
    let script = script().on("hello", [Turn::text("Hello yourself.")]);
    let subagent = SubagentStage::new(script);
    let stage = &subagent.stage;
    stage.sandbox.write("project/notes.txt", "milk");
    subagent.preset("scout");
    let flags = ["--runner", "embedded", "--session", "s1", "--json"];
    let run = |task: &str| stage.command(&["run", "scout", task]).args(flags);
    _ = run("hello").run().expect_success();
    let owner = run("what do they say?");
    let directory = kill_in_mid_run(stage, &subagent.server, owner);
    check(stage, &directory);
}
