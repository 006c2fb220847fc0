//! The names of callers on the page: every door leaves its own with the runs that it starts.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::host_stage::Shim;
use crate::mcp_stage::McpServer;
use crate::web_stage::WebStage;

#[test]
fn runs_are_grouped_under_the_caller_who_started_them() {
    let web = WebStage::new();
    let model = web.script(&json!([{"turns": [{"text": "You said: {{prompt}}"}]}]));
    let run = web.run("typed", "Say hello", &model);
    let reply = |name: &str| json!({"name": name, "prompt": json!([{"reply": name}]).to_string()});
    for (patience, name) in [("0", "answered"), ("600", "detached")] {
        let flags = ["--runner", "pi", "--answer-within", patience];
        let mut client = McpServer::introduced(&web.stage, &flags, "claude-code");
        let call = json!({"name": "delegate_to_subagents", "arguments": {"tasks": [reply(name)]}});
        let id = client.request("tools/call", &call);
        assert_eq!(client.answer(id)["result"]["isError"], json!(false));
    }
    let mut shim = Shim::start(&web.stage);
    let id = shim.delegate("call", &[("inside", json!([{"reply": "end"}]))]);
    shim.result(id);
    let path = format!("/v1/runs/{run}/continue");
    let answer = web.post(&path, &json!({"message": "Again"}));
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    let next = answer["run"].as_str().unwrap();
    web.command(&["wait", next]).run().expect_success();

    let listed = web.json("/v1/runs?count=10");
    let labels = listed["runs"].as_array().unwrap().iter().rev();
    let labels: Value = labels
        .map(|row| json!([row["name"], row["groupLabel"]]))
        .collect();
    assert_eq!(
        labels,
        json!([
            ["typed", "terminal"],
            ["answered", "claude-code (MCP)"],
            ["detached", "claude-code (MCP), background"],
            ["inside", "pi session s1"],
            ["typed", "background"],
        ])
    );
    let usage = web.json("/v1/usage");
    let callers = usage["callers"].as_array().unwrap().iter();
    let callers: Value = callers.map(|caller| caller["name"].clone()).collect();
    assert_eq!(
        callers,
        json!([
            "claude-code (MCP)",
            "claude-code (MCP), in the background",
            "pi",
            "terminal",
            "this page, in the background",
        ])
    );
}
