//! The leftovers of the embedded agent's shell commands, and the variables that they get to see.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::llm::{Script, Turn};
use pi_subagents_testkit::process::{parent, zombies_of};
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::agent_stage::{AgentStage, FORMATS, of_type};
use crate::stage::{Stage, outcomes};

const PATIENCE: Duration = Duration::from_mins(2);

#[test]
fn orphans_are_buried_while_the_command_goes_on() {
    // Each subshell is gone before its child is, so that the agent inherits a hundred.
    let command = "for i in $(seq 100); do (sh -c 'echo $$ >> born' &); done; \
                   while ! [ -e go ]; do sleep 0.05; done; echo gone on";
    let stage = AgentStage::new(
        FORMATS[0],
        Script::new().otherwise([
            Turn::tool_call("bash", json!({"command": command})),
            Turn::text("Done."),
        ]),
    );
    let mut agent = stage.agent(&["--tools", "bash"]);
    agent.prompt("Go.");
    let pid = agent.running().pid();
    let born = stage.sandbox.root().join("project/born");
    let all_buried = || {
        let born = fs::read_to_string(&born).unwrap_or_default();
        let orphans: Vec<u32> = born.lines().filter_map(|line| line.parse().ok()).collect();
        // Gone from the table, not only dead.
        let are_gone = orphans.iter().all(|orphan| parent(*orphan) != Some(pid));
        (orphans.len() == 100 && are_gone && zombies_of(pid).is_empty()).then_some(())
    };
    assert!(
        wait_until(PATIENCE, all_buried).is_some(),
        "left: {:?}",
        zombies_of(pid)
    );
    assert!(of_type(&agent.events(), "tool_execution_end").is_empty());
    fs::write(stage.sandbox.root().join("project/go"), "").unwrap();
    agent.wait_for(|event| event["type"] == "agent_settled");
    let events = agent.finish();
    let end = of_type(&events, "tool_execution_end")[0];
    assert_eq!(end["isError"], false, "its own status was not taken away");
    assert_eq!(end["result"]["content"][0]["text"], "gone on\n");
}

#[test]
fn a_shell_gets_no_variable_that_the_configuration_names_as_a_secret() {
    let stage = AgentStage::new(
        FORMATS[0],
        Script::new().otherwise([
            Turn::tool_call("bash", json!({"command": "env"})),
            Turn::text("Done."),
        ]),
    );
    let models = json!({"providers": {
        "fake": {
            "baseUrl": stage.server.base_url(), "api": FORMATS[0], "apiKey": "$MY_KEY",
            "headers": {"x-team": "Bearer ${MY_HEADER}", "x-made": "!echo made-$MY_PASS-$OTHER_KEY"},
            "models": [{"id": "fake-model", "headers": {"x-model": "$MY_MODEL_HEADER"}}],
        },
        "other": {"baseUrl": "http://localhost:1", "api": FORMATS[0],
                  "apiKey": "!cat $OTHER_KEY $HOME/key", "models": [{"id": "m"}]},
    }});
    stage
        .sandbox
        .write("home/.pi/agent/models.json", &models.to_string());
    let secrets = [
        "MY_KEY",
        "MY_HEADER",
        "MY_PASS",
        "MY_MODEL_HEADER",
        "OTHER_KEY",
        "ANTHROPIC_API_KEY",
    ];
    let mut command = stage
        .command(&[
            "--mode",
            "json",
            "-p",
            "--no-session",
            "--tools",
            "bash",
            "Go",
        ])
        .env("ORDINARY", "stays");
    for name in secrets {
        command = command.env(name, format!("secret-{name}"));
    }
    let output = command.run().expect_success();
    let events = output.json_lines();
    let seen = &of_type(&events, "tool_execution_end")[0]["result"]["content"][0]["text"];
    let seen = seen.as_str().unwrap();
    assert!(seen.contains("ORDINARY=stays"), "{seen}");
    assert!(seen.contains("HOME="), "named by a command, but no secret");
    assert!(!seen.contains("secret-"), "{seen}");
    let headers = &stage.server.requests()[0].headers;
    assert_eq!(headers["authorization"], "Bearer secret-MY_KEY");
    assert_eq!(headers["x-team"], "Bearer secret-MY_HEADER");
    assert_eq!(headers["x-model"], "secret-MY_MODEL_HEADER");
    assert_eq!(headers["x-made"], "made-secret-MY_PASS-secret-OTHER_KEY");
}

#[test]
fn flags_of_the_newest_pi_are_accepted() {
    let stage = AgentStage::new(FORMATS[0], Script::new().otherwise([Turn::text("ok")]));
    let flags = [
        "--no-mcp",
        "--tui-mode",
        "regular",
        "-p",
        "--no-session",
        "Hi",
    ];
    let output = stage.command(&flags).run().expect_success();
    assert_eq!(output.stdout, "ok\n");
    let output = stage.command(&["--no-such-flag", "-p", "Hi"]).run();
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("Unknown option: --no-such-flag"));
}

#[test]
fn an_owner_hands_secrets_over_where_no_environment_shows_them() {
    let look = "for pid in $PPID $(cut -d' ' -f4 /proc/$PPID/stat); do \
                tr '\\0' '\\n' < /proc/$pid/environ; done; env; echo looked";
    let agent = AgentStage::new(
        FORMATS[0],
        Script::new().otherwise([
            Turn::tool_call("bash", json!({"command": look})),
            Turn::text("Done."),
        ]),
    );
    let models = json!({"providers": {"fake": {
        "baseUrl": agent.server.base_url(), "api": FORMATS[0], "apiKey": "$MY_KEY",
        "models": [{"id": "fake-model"}],
    }}});
    agent
        .sandbox
        .write("home/.pi/agent/models.json", &models.to_string());
    let stage = Stage {
        sandbox: agent.sandbox,
    };
    let call = json!({"tasks": [{"name": "look", "prompt": "Look."}]});
    let output = stage
        .delegate_to("embedded", &call)
        .env("MY_KEY", "secret-named")
        .env("OPENAI_API_KEY", "secret-built-in")
        .env("ORDINARY", "stays")
        .run();
    assert_eq!(outcomes(&output)[0].status, "completed", "{output}");
    for request in agent.server.requests() {
        assert_eq!(request.headers["authorization"], "Bearer secret-named");
    }
    let seen = agent.server.requests().pop().unwrap().body.to_string();
    assert!(seen.contains("looked"), "{seen}");
    assert_eq!(
        seen.matches("ORDINARY=stays").count(),
        3,
        "agent, keeper and shell"
    );
    assert!(!seen.contains("secret-"), "{seen}");
}
