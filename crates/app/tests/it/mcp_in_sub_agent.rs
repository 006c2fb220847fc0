//! Our MCP server in a sub-agent, whose pi starts it like every server of the user: it offers
//! nothing, because sub-agents have no sub-agents.

use std::fs;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, delegate};
use crate::stage::{Stage, completed, outcomes};

const REASON: &str = "This server was started by a sub-agent (PI_SUBAGENTS_CHILD is 1). Sub-agents have no sub-agents, so it offers no tools.";

#[test]
fn the_server_of_a_sub_agent_has_no_tools_and_says_why() {
    let stage = Stage::new();
    let requests = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "pipes", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "delegate_to_subagents",
            "arguments": {"tasks": [{"name": "a", "prompt": "hello"}]}}}),
    ];
    let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
    let output = stage
        .command(&["mcp"])
        .env("PI_SUBAGENTS_CHILD", "1")
        .stdin(format!("{}\n", lines.join("\n")))
        .run()
        .expect_success();
    let answers = output.json_lines();
    let answer = |id: u32| answers.iter().find(|one| one["id"] == id).unwrap();
    assert_eq!(answer(1)["result"]["instructions"], REASON);
    assert_eq!(answer(2)["result"]["tools"], json!([]));
    assert_eq!(answer(3)["error"]["message"], REASON);
    assert_eq!(output.stderr, format!("{REASON}\n"));
}

/// A stage whose user has added our server to pi; each start of it adds a line to `started`.
fn stage_with_our_server() -> (Stage, LlmServer) {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    stage.sandbox.models_json(&server.base_url());
    let script = format!(
        "#!/bin/sh\necho >> {}\nexec {} mcp\n",
        stage.path("started"),
        env!("CARGO_BIN_EXE_pi-subagents")
    );
    let program = stage.sandbox.program("bin/sub", &script);
    let servers = json!({"mcpServers": {"sub": {"command": program, "exposure": "direct"}}});
    let file = "home/.pi/agent/mcp.json";
    stage.sandbox.write(file, &servers.to_string());
    (stage, server)
}

/// Today's pi alone, because the older one has no MCP client.
#[test]
fn a_sub_agent_has_no_sub_agents_through_mcp_and_a_restricted_one_starts_no_server() {
    let (stage, server) = stage_with_our_server();
    stage.profile("denied", "excludeTools: bash", "");
    stage.profile("allowed", "tools: read", "");
    stage.profile("none", "noTools: true", "");
    for (profile, starts) in [
        (None, 1),
        (Some("denied"), 0),
        (Some("allowed"), 0),
        (Some("none"), 0),
    ] {
        _ = fs::remove_file(stage.path("started"));
        let task = json!({"tasks": [{"name": "a", "prompt": "hello", "profile": profile}]});
        let output = delegate(RealPi::Newer, &stage, "pi", &task).run();
        assert_eq!(outcomes(&output), [completed("a", "ok")], "{profile:?}");
        let body = server.requests().pop().unwrap().body;
        assert!(
            !body.to_string().contains("subagent"),
            "{profile:?}: {body}"
        );
        let started = fs::read_to_string(stage.path("started")).unwrap_or_default();
        assert_eq!(started.lines().count(), starts, "{profile:?}");
    }
}
