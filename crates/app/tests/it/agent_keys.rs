//! The ways by which the embedded agent gets its key, and the processes that do not get to see it.

use std::path::Path;

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::agent_stage::{AgentStage, FORMATS, answers, of_type};

const BINARY: &str = env!("CARGO_BIN_EXE_pi-subagents");

#[test]
fn a_key_on_a_descriptor_is_used_and_the_shell_cannot_read_it() {
    let look = "env; tr '\\0' '\\n' < /proc/$PPID/environ; tr '\\0' ' ' < /proc/$PPID/cmdline; \
                timeout 2 cat <&9; timeout 2 cat /proc/$PPID/fd/9; echo looked";
    let stage = AgentStage::new(
        FORMATS[0],
        Script::new().otherwise([
            Turn::tool_call("bash", json!({"command": look})),
            Turn::text("Done."),
        ]),
    );
    let start = "exec 9< <(printf sk-handed); PI_SUBAGENTS_KEY_FD=9 exec \"$0\" embedded --mode json -p --no-session --tools bash Look";
    let output = stage
        .sandbox
        .command(Path::new("/bin/bash"))
        .args(["-c", start, BINARY])
        .env("OPENAI_API_KEY", "sk-of-the-environment")
        .run()
        .expect_success();
    for request in stage.server.requests() {
        assert_eq!(request.headers["authorization"], "Bearer sk-handed");
    }
    let events = output.json_lines();
    let seen = &of_type(&events, "tool_execution_end")[0]["result"]["content"][0]["text"];
    let seen = seen.as_str().unwrap();
    assert!(seen.contains("looked"), "{seen}");
    assert!(!output.stdout.contains("sk-handed"), "{seen}");
    let (environment, _) = seen.split_once("looked").unwrap();
    let (own, _) = environment
        .split_once("PI_SUBAGENTS_KEY_FD")
        .unwrap_or((environment, ""));
    assert!(
        !own.lines().any(|line| line.starts_with("OPENAI_API_KEY")),
        "{own}"
    );
}

#[test]
fn a_key_for_another_provider_is_not_used() {
    let stage = AgentStage::new(FORMATS[0], Script::new().otherwise([Turn::text("ok")]));
    let start = "exec 9< <(printf sk-handed); PI_SUBAGENTS_KEY_FD=9 PI_SUBAGENTS_KEY_PROVIDER=groq exec \"$0\" embedded -p --no-session Hi";
    let output = stage
        .sandbox
        .command(Path::new("/bin/bash"))
        .args(["-c", start, BINARY])
        .run()
        .expect_success();
    assert_eq!(output.stdout, "ok\n");
    let request = &stage.server.requests()[0];
    assert_eq!(request.headers["authorization"], "Bearer test-key");
}

#[test]
fn a_descriptor_that_is_not_there_ends_the_agent() {
    let stage = AgentStage::new(FORMATS[0], Script::new());
    let output = stage
        .command(&["-p", "Hi"])
        .env("PI_SUBAGENTS_KEY_FD", "77")
        .run();
    assert_eq!(output.code, Some(1));
    assert!(
        output
            .stderr
            .starts_with("Error: Cannot read the key from descriptor 77: "),
        "{output}"
    );
}

#[test]
fn a_login_of_pi_is_used_through_pi() {
    let stage = AgentStage::new(
        "anthropic-messages",
        Script::new().otherwise([Turn::text("ok")]),
    );
    let auth = json!({"fake": {"type": "oauth", "access": "old", "refresh": "r", "expires": 1}});
    stage
        .sandbox
        .write("home/.pi/agent/auth.json", &auth.to_string());
    let stand_in = stage.sandbox.program(
        "bin/pi",
        "#!/bin/sh\ntest \"$*\" = 'auth print-bearer-token --provider fake' && echo tok-new\n",
    );
    let output = stage
        .command(&["-p", "--no-session", "Hi"])
        .env("PI_SUBAGENTS_PI", &stand_in)
        .run()
        .expect_success();
    assert_eq!(output.stdout, "ok\n");
    let request = &stage.server.requests()[0];
    assert_eq!(request.headers["authorization"], "Bearer tok-new");
    assert!(!request.headers.contains_key("x-api-key"));
}

#[test]
fn a_login_without_pi_says_what_is_missing() {
    let stage = AgentStage::new(FORMATS[0], Script::new());
    let auth = json!({"openai-codex": {"type": "oauth", "access": "a"}, "xai": {"type": "oauth"}});
    stage
        .sandbox
        .write("home/.pi/agent/auth.json", &auth.to_string());
    let output = stage
        .command(&["-p", "--no-session", "--model", "xai/grok", "Hi"])
        .env("PATH", "/usr/bin:/bin")
        .run();
    insta::assert_snapshot!(output, @r#"
    --- exit code
    1
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    Error: No API key found for xai.

    $HOME/.pi/agent/auth.json holds a login, but only pi can renew it, and pi is not installed. Set the environment variable XAI_API_KEY, or put {"xai": {"type": "api_key", "key": "..."}} into $HOME/.pi/agent/auth.json.
    [EOF]
    "#);
}

#[test]
fn headers_and_keys_of_models_json_are_resolved() {
    let stage = AgentStage::new(FORMATS[2], Script::new().otherwise([Turn::text("ok")]));
    let models = json!({"providers": {"fake": {
        "baseUrl": stage.server.base_url(), "api": FORMATS[2], "apiKey": "!echo from-a-command",
        "authHeader": true, "headers": {"X-Team": "${TEAM}-1"},
        "models": [{"id": "fake-model"}],
        "modelOverrides": {"fake-model": {"headers": {"X-Model": "$$5"}}},
    }}});
    stage
        .sandbox
        .write("home/.pi/agent/models.json", &models.to_string());
    _ = stage
        .command(&["-p", "--no-session", "Hi"])
        .env("TEAM", "blue")
        .run()
        .expect_success();
    let headers = &stage.server.requests()[0].headers;
    assert_eq!(headers["x-api-key"], "from-a-command");
    assert_eq!(headers["authorization"], "Bearer from-a-command");
    assert_eq!(headers["x-team"], "blue-1");
    assert_eq!(headers["x-model"], "$5");
}

#[test]
fn a_server_of_ones_own_needs_nothing_but_a_base_url() {
    let stage = AgentStage::new(FORMATS[0], Script::new().otherwise([Turn::text("ok")]));
    let models = json!({"providers": {"mine": {"baseUrl": stage.server.base_url()}}});
    stage
        .sandbox
        .write("home/.pi/agent/models.json", &models.to_string());
    let events = stage.prompt(&["--model", "mine/whatever-runs"], "Hi.");
    let answer = answers(&events)[0];
    assert_eq!(answer["content"][0]["text"], "ok");
    assert!(
        answer["usage"].get("cost").is_none(),
        "an unknown price is not 0"
    );
    let request = &stage.server.requests()[0];
    assert_eq!(request.body["model"], "whatever-runs");
    assert!(!request.headers.contains_key("authorization"));
}
