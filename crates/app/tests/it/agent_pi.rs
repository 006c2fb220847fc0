//! The embedded agent and the real pi: pi's client drives the agent, and each continues the
//! sessions of the other.

use std::fs;
use std::path::Path;

use pi_subagents_testkit::llm::{Script, Turn};
use pi_subagents_testkit::sandbox::{CommandOutput, SandboxCommand};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::agent_stage::{AgentStage, FORMATS, Rpc, answers};
use crate::real_pi::{RealPi, for_each_pi};

for_each_pi! {
    the_client_of_pi_drives_the_agent,
    each_continues_the_sessions_of_the_other,
    pi_continues_a_session_that_we_shortened,
    a_session_that_was_killed_in_its_first_wait_goes_on_in_the_other,
}

fn node(stage: &AgentStage) -> SandboxCommand {
    stage.sandbox.command(&RealPi::node())
}

/// Lets the real pi answer one prompt in a session.
fn ask(pi: RealPi, stage: &AgentStage, session: &Path, prompt: &str) -> CommandOutput {
    stage
        .sandbox
        .command(&pi.program())
        .args(["--mode", "json", "-p", "--offline", "--tools", "bash"])
        .arg("--session")
        .arg(session)
        .env("PI_OFFLINE", "1")
        .stdin(prompt)
        .run()
        .expect_success()
}

/// Lets our agent answer one prompt in a session.
fn ours(stage: &AgentStage, session: &Path, flags: &[&str], prompt: &str) -> Vec<Value> {
    let command = stage.command(&["--mode", "rpc", "--tools", "bash"]);
    let mut agent = Rpc::start(command.arg("--session").arg(session).args(flags));
    agent.prompt(prompt);
    agent.wait_for_settled(1);
    agent.finish()
}

fn last_request(stage: &AgentStage) -> String {
    stage.server.requests().pop().unwrap().body.to_string()
}

fn the_client_of_pi_drives_the_agent(pi: RealPi) {
    let stage = AgentStage::new(
        FORMATS[0],
        Script::new()
            .on("Say hello", [Turn::text("Hello.")])
            .on(
                "Work, please",
                [Turn::tool_call("bash", json!({"command": "echo work"})).gate("work")],
            )
            .on("backwards", [Turn::text("krow")])
            .on("Take your time", [Turn::text("Late.").gate("never")])
            .otherwise([Turn::text("I am the other one.")]),
    );
    // The client starts the first `node` that it finds.
    let stand_in = stage.sandbox.program(
        "bin/node",
        &format!(
            "#!/bin/sh\nexec \"{}\" \"$@\"\n",
            env!("CARGO_BIN_EXE_pi-subagents")
        ),
    );
    let script = stage
        .sandbox
        .write("client.mjs", include_str!("agent_rpc_client.mjs"));
    let package = pi.package("dist/bundle/index.js");
    let session = stage.sandbox.root().join("session.jsonl");
    let mut running = node(&stage)
        .arg(script)
        .env("PI_PACKAGE", package)
        .env("PROJECT", stage.sandbox.project())
        .env("SESSION", &session)
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", stand_in.parent().unwrap().display()),
        )
        .spawn();
    stage
        .server
        .wait_for_requests(2, std::time::Duration::from_mins(1));
    assert!(running.write_line("the model was asked"));
    running.wait_for_stdout("\"steered\"\n");
    stage.server.release("work");
    let output = running.wait().expect_success();
    let seen: Value = serde_json::from_str(output.stdout.lines().last().unwrap()).unwrap();

    assert_eq!(seen["begun"]["model"]["id"], "fake-model");
    assert_eq!(seen["begun"]["isStreaming"], false);
    assert_eq!(seen["hello"], "Hello.");
    assert_eq!(seen["steered"], "krow");
    assert_eq!(seen["aborted"], "aborted");
    assert_eq!(seen["models"], json!(["fake-model", "other-model"]));
    assert_eq!(seen["model"]["id"], "other-model");
    assert_eq!(seen["other"], "I am the other one.");
    assert_eq!(
        stage.server.requests().pop().unwrap().body["model"],
        "other-model"
    );
    assert_eq!(seen["ended"]["messageCount"], 12);
    assert_eq!(seen["ended"]["sessionFile"], json!(session));
    assert_eq!(seen["ended"]["thinkingLevel"], "low");
    assert_eq!(seen["ended"]["sessionId"], seen["begun"]["sessionId"]);
}

fn each_continues_the_sessions_of_the_other(pi: RealPi) {
    for api in FORMATS {
        let stage = AgentStage::new(
            api,
            Script::new()
                .on(
                    "My name",
                    [
                        Turn::tool_call("bash", json!({"command": "echo noted-by-us"}))
                            .thinking("Names matter."),
                        Turn::text("Nice to meet you."),
                    ],
                )
                .on(
                    "My town",
                    [
                        Turn::tool_call("bash", json!({"command": "echo noted-by-pi"}))
                            .thinking("Towns too."),
                        Turn::text("A fine town."),
                    ],
                )
                .otherwise([Turn::text("Ada of Turin.")]),
        );
        let session = stage.sandbox.root().join("shared.jsonl");
        let thinking = ["--thinking", "low"];
        ours(&stage, &session, &thinking, "My name is Ada.");

        let events = ask(pi, &stage, &session, "My town is Turin.").json_lines();
        let said = answers(&events);
        assert_eq!(
            said.last().unwrap()["content"]
                .as_array()
                .unwrap()
                .last()
                .unwrap()["text"],
            "A fine town.",
            "{api}"
        );
        let context = last_request(&stage);
        for part in [
            "My name is Ada.",
            "noted-by-us",
            "Nice to meet you.",
            "noted-by-pi",
        ] {
            assert!(context.contains(part), "{api}: {part} is not in {context}");
        }

        let events = ours(&stage, &session, &[], "Who am I?");
        assert_eq!(
            answers(&events)[0]["content"][0]["text"],
            "Ada of Turin.",
            "{api}"
        );
        let context = last_request(&stage);
        for part in [
            "My name is Ada.",
            "noted-by-us",
            "My town is Turin.",
            "noted-by-pi",
            "A fine town.",
        ] {
            assert!(context.contains(part), "{api}: {part} is not in {context}");
        }
        let file = fs::read_to_string(&session).unwrap();
        let headers = file
            .lines()
            .filter(|line| line.contains("\"type\":\"session\""));
        assert_eq!(headers.count(), 1, "{api}");
    }
}

fn pi_continues_a_session_that_we_shortened(pi: RealPi) {
    let stage = AgentStage::new(
        FORMATS[0],
        Script::new()
            .on("<conversation>", [Turn::text("Ada lives in Turin.")])
            .otherwise([Turn::text("A fine answer of some length.")]),
    );
    stage.settings(&json!({"compaction": {"keepRecentTokens": 2}}));
    let session = stage.sandbox.root().join("short.jsonl");
    let command = stage.command(&["--mode", "rpc", "--tools", "bash"]);
    let mut agent = Rpc::start(command.arg("--session").arg(&session));
    agent.prompt("I am Ada and live in Turin, by the river.");
    agent.wait_for_settled(1);
    let answer = agent.ask(&json!({"type": "compact"}));
    assert_eq!(answer["success"], true, "{answer}");
    assert_eq!(answer["data"]["summary"], "Ada lives in Turin.");
    agent.finish();
    ask(pi, &stage, &session, "And now?");
    let context = last_request(&stage);
    assert!(context.contains("Ada lives in Turin."), "{context}");
    assert!(!context.contains("by the river"), "{context}");
    assert!(context.contains("A fine answer"), "{context}");
}

fn a_session_that_was_killed_in_its_first_wait_goes_on_in_the_other(pi: RealPi) {
    let stage = AgentStage::new(
        FORMATS[0],
        Script::new()
            .on("Wait for ever", [Turn::text("Never.").gate("never")])
            .otherwise([Turn::text("Here I am.")]),
    );
    let wait = std::time::Duration::from_mins(1);
    let of_pi = stage.sandbox.root().join("of-pi.jsonl");
    let killed = stage
        .sandbox
        .command(&pi.program())
        .args(["--mode", "json", "-p", "--offline", "--tools", "bash"])
        .arg("--session")
        .arg(&of_pi)
        .env("PI_OFFLINE", "1")
        .stdin("Wait for ever")
        .spawn();
    stage.server.wait_for_requests(1, wait);
    killed.kill(rustix::process::Signal::KILL);
    // The exit status is known: it was killed.
    _ = killed.wait();
    let events = ours(&stage, &of_pi, &[], "Are you there?");
    assert_eq!(answers(&events)[0]["content"][0]["text"], "Here I am.");
    // Since 1.5 the file is there from the first prompt on.
    let knows_the_first = last_request(&stage).contains("Wait for ever");
    assert_eq!(knows_the_first, pi == RealPi::Newer);

    let of_ours = stage.sandbox.root().join("of-ours.jsonl");
    let command = stage.command(&["--mode", "rpc", "--tools", "bash"]);
    let mut agent = Rpc::start(command.arg("--session").arg(&of_ours));
    agent.prompt("Wait for ever");
    stage.server.wait_for_requests(3, wait);
    agent.running().kill(rustix::process::Signal::KILL);
    let events = ask(pi, &stage, &of_ours, "Are you there?").json_lines();
    let said = answers(&events);
    let content = said.last().unwrap()["content"].as_array().unwrap();
    assert_eq!(content.last().unwrap()["text"], "Here I am.");
}
