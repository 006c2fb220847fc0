//! Sessions of the embedded agent over pi's protocol, and the traces of shell commands in them.

use std::fs;

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::agent_stage::{AgentStage, FORMATS, Rpc, of_type};

#[test]
fn a_named_session_goes_on_where_it_was_left() {
    let stage = AgentStage::new(FORMATS[0], Script::new().otherwise([Turn::text("ok")]));
    let file = stage.sandbox.root().join("sessions/first.jsonl");
    let session = ["--session", file.to_str().unwrap()];
    let named = stage.command(&["--mode", "rpc", "--name", "mine"]);
    let mut agent = Rpc::start(named.args(session));
    agent.prompt("one");
    agent.wait_for_settled(1);
    agent.finish();

    let mut agent = Rpc::start(stage.command(&["--mode", "rpc"]).args(session));
    let seen = agent.ask(&json!({"type": "get_state"}))["data"].clone();
    assert_eq!(seen["sessionName"], "mine");
    assert_eq!(seen["sessionFile"], json!(file));
    assert_eq!(seen["messageCount"], 3);
    assert_eq!(seen["model"]["id"], "fake-model");
    agent.prompt("two");
    agent.wait_for_settled(1);
    agent.finish();
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(text.matches("\"role\":\"user\"").count(), 2);
}

#[test]
fn a_second_agent_on_a_session_is_refused() {
    let stage = AgentStage::new(FORMATS[0], Script::new().otherwise([Turn::text("ok")]));
    let file = stage.sandbox.root().join("s.jsonl");
    let session = ["--session", file.to_str().unwrap()];
    let mut agent = Rpc::start(stage.command(&["--mode", "rpc"]).args(session));
    agent.ask(&json!({"type": "get_state"}));
    let output = stage.command(&["-p", "Hi"]).args(session).run();
    assert_eq!(output.code, Some(1));
    assert!(
        output
            .stderr
            .ends_with("s.jsonl is in use by another process\n"),
        "{output}"
    );
    agent.finish();
    assert!(!file.exists(), "nothing was said");
    _ = stage
        .command(&["-p", "Hi"])
        .args(session)
        .run()
        .expect_success();
}

#[test]
fn compaction_is_a_command_with_an_answer_and_events() {
    let stage = AgentStage::new(
        FORMATS[0],
        Script::new()
            .on("<conversation>", [Turn::text("A summary.")])
            .on("<conversation>", [Turn::text("Never said.").gate("never")])
            .otherwise([Turn::text("An answer of some length, to be kept.")]),
    );
    stage.settings(&json!({"compaction": {"keepRecentTokens": 2}}));
    let mut agent = stage.agent(&[]);
    let answer = agent.ask(&json!({"type": "compact"}));
    assert_eq!(answer["error"], "Nothing to compact (session too small)");
    agent.prompt("one");
    agent.wait_for_settled(1);
    let answer = agent.ask(&json!({"type": "compact", "customInstructions": "the colours"}));
    assert_eq!(answer["data"]["summary"], "A summary.");
    assert!(answer["data"]["usage"]["cost"]["total"].as_f64().unwrap() > 0.0);
    let asked = stage.server.requests().pop().unwrap().body.to_string();
    assert!(asked.contains("the colours"), "{asked}");

    // The next one is called off.
    agent.prompt("two");
    agent.wait_for_settled(2);
    agent.send(&json!({"type": "compact", "id": "off"}));
    stage
        .server
        .wait_for_requests(4, std::time::Duration::from_mins(1));
    let asked_state = agent.ask(&json!({"type": "get_state"}));
    assert_eq!(asked_state["data"]["isCompacting"], true);
    let refused = agent.ask(&json!({"type": "prompt", "message": "three"}));
    assert_eq!(refused["success"], false);
    agent.ask(&json!({"type": "abort"}));
    let answer = agent.wait_for(|event| event["id"] == "off");
    assert_eq!(answer["error"], "Compaction cancelled");
    agent.prompt("three");
    agent.wait_for_settled(3);
    let events = agent.finish();
    let ends = of_type(&events, "compaction_end");
    assert_eq!(ends.len(), 3);
    assert_eq!(
        ends[0]["errorMessage"],
        "Compaction failed: Nothing to compact (session too small)"
    );
    assert_eq!(ends[1]["reason"], "manual");
    assert_eq!(ends[2]["aborted"], true);
}

#[test]
fn long_output_stays_in_the_run_directory() {
    let stage = AgentStage::new(
        FORMATS[0],
        Script::new().otherwise([
            Turn::tool_call("bash", json!({"command": "seq 1 3000"})),
            Turn::text("Done."),
        ]),
    );
    let meta = stage.sandbox.write("runs/1/meta.json", "{}");
    let run = meta.parent().unwrap();
    let command = stage.command(&["--mode", "rpc", "--tools", "bash"]);
    let mut agent = Rpc::start(command.arg("--run-dir").arg(run));
    agent.prompt("Count.");
    agent.wait_for_settled(1);
    let events = agent.finish();
    let result = &of_type(&events, "tool_execution_end")[0]["result"];
    let full = result["details"]["fullOutputPath"].as_str().unwrap();
    assert!(full.starts_with(run.to_str().unwrap()), "{full}");
    let kept = fs::read_to_string(full).unwrap();
    assert_eq!(kept.lines().count(), 3000);
}

#[test]
fn text_mode_prints_the_answer_after_any_number_of_events() {
    let looks = (0..12).map(|_| Turn::tool_call("bash", json!({"command": "true"})));
    let turns = looks.chain([Turn::text("Done.")]);
    let stage = AgentStage::new(FORMATS[0], Script::new().then(turns));
    let command = stage.command(&["--mode", "text", "-p", "--no-session", "Go"]);
    assert_eq!(command.run().expect_success().stdout, "Done.\n");
}
