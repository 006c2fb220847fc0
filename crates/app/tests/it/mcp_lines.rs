//! The lines of a client that are no good calls.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::mcp_stage::McpServer;
use crate::stage::{Stage, call};

const DELEGATE: &str = "delegate_to_subagents";
const PI: [&str; 2] = ["--runner", "pi"];

#[test]
fn an_old_client_and_one_of_the_future_are_understood() {
    let stage = Stage::new();
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut server = McpServer::start(&stage, &[]);
        let params = json!({
            "protocolVersion": asked, "capabilities": {},
            "clientInfo": {"name": "pipes", "version": "1"}
        });
        let id = server.request("initialize", &params);
        assert_eq!(server.answer(id)["result"]["protocolVersion"], agreed);
    }
}

#[test]
fn what_is_no_good_request_is_answered_or_passed_over_and_the_next_one_served() {
    let stage = Stage::new();
    let mut server = McpServer::initialized(&stage, &PI, &json!({}));
    let mut answers = Vec::new();
    for (method, params) in [
        ("frob/nicate", json!({})),
        (
            "tools/call",
            json!({"name": DELEGATE, "arguments": ["tasks"]}),
        ),
        ("tools/call", json!({})),
        ("ping", json!({})),
    ] {
        let id = server.request(method, &params);
        answers.push(server.answer(id).to_string());
    }
    insta::assert_snapshot!(answers.join("\n"));
    for line in [
        "",
        "this is no JSON",
        "[]",
        "null",
        "{\"jsonrpc\": \"2.0\"}",
    ] {
        assert!(server.running.write_line(line));
    }
    for code in [-32700, -32600] {
        let refused = server.wait_for(|message| message["error"]["code"] == code);
        assert_eq!(refused["id"], Value::Null, "{refused}");
    }
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/nobody/knows"}));
    server.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999}
    }));
    let id = server.request("ping", &json!({}));
    assert_eq!(server.answer(id)["result"], json!({}));
    server.running.close_stdin();
    let output = server.running.wait();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_line_that_is_too_long_is_refused_and_the_next_ones_are_answered() {
    let stage = Stage::new();
    let mut server = McpServer::initialized(&stage, &PI, &json!({}));
    let long = "x".repeat(17 * 1024 * 1024);
    let lines = [
        json!({"jsonrpc": "2.0", "id": 105, "method": "tasks/get", "params": {}}),
        json!({"method": "tools/call", "params": {"text": long}, "jsonrpc": "2.0", "id": 106}),
        json!({"jsonrpc": "2.0", "id": 107, "method": "prompts/list"}),
        json!({"jsonrpc": "2.0", "id": 108, "method": "prompts/get", "params": {"name": "x"}}),
        json!({"jsonrpc": "2.0", "id": 109, "method": "completion/complete", "params": {
            "ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}
        }}),
        json!({"jsonrpc": "2.0", "id": 110, "method": "ping"}),
    ];
    for line in &lines {
        server.send(line);
    }
    let refused = server.wait_for(|message| message["error"]["code"] == -32600);
    assert_eq!(
        refused["error"]["message"],
        "The line is longer than 16 MB and was not read."
    );
    let answers: Vec<String> = [105, 107, 108, 109, 110]
        .map(|id| server.answer(id).to_string())
        .into();
    insta::assert_snapshot!(answers.join("\n"), @r#"
    {"jsonrpc":"2.0","id":105,"error":{"code":-32602,"message":"The params of tasks/get do not fit."}}
    {"jsonrpc":"2.0","id":107,"error":{"code":-32601,"message":"There is no method prompts/list."}}
    {"jsonrpc":"2.0","id":108,"error":{"code":-32601,"message":"There is no method prompts/get."}}
    {"jsonrpc":"2.0","id":109,"error":{"code":-32601,"message":"There is no method completion/complete."}}
    {"jsonrpc":"2.0","id":110,"result":{}}
    "#);
}

#[test]
fn a_request_that_is_nested_too_deeply_is_refused_by_its_id() {
    let stage = Stage::new();
    let mut server = McpServer::initialized(&stage, &PI, &json!({}));
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let line = format!(
        r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"{DELEGATE}","arguments":{{"tasks":{deep}}}}},"id":77}}"#
    );
    assert!(server.running.write_line(&line));
    assert_eq!(
        server.answer(77)["error"]["message"],
        "The message is nested too deeply and was not read."
    );
    let id = server.request("ping", &json!({}));
    assert_eq!(server.answer(id)["result"], json!({}));
}

#[test]
fn a_request_before_the_beginning_is_answered_with_both_ways_to_begin() {
    let stage = Stage::new();
    let mut server = McpServer::start(&stage, &PI);
    let id = server.request("tools/list", &json!({}));
    let answer = server.answer(id);
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(
        words.contains("send initialize first") && words.contains("2026-07-28"),
        "{answer}"
    );
    let params = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "pipes", "version": "1"}
    });
    let id = server.request("initialize", &params);
    assert_eq!(server.answer(id)["result"]["protocolVersion"], "2025-06-18");
}

#[test]
fn tokens_of_progress_come_back_as_they_were() {
    let stage = Stage::new();
    let mut server = McpServer::initialized(&stage, &PI, &json!({}));
    for token in [json!(7), json!("seven"), json!(0)] {
        let go = stage.path(&format!("go {token}"));
        let arguments = call(&[("a", json!([{"waitForFile": go}, {"reply": "done"}]))]);
        let params = json!({
            "name": DELEGATE, "arguments": arguments, "_meta": {"progressToken": token}
        });
        let id = server.request("tools/call", &params);
        let told = server.wait_for(|line| line["params"]["progressToken"] == token);
        assert_eq!(told["method"], "notifications/progress");
        fs::write(go, "").unwrap();
        assert_eq!(server.answer(id)["result"]["isError"], false);
    }
}

#[test]
fn large_arguments_and_many_calls_at_once_are_served() {
    let stage = Stage::new();
    let mut server = McpServer::initialized(&stage, &PI, &json!({}));
    let ids: Vec<u32> = (0..20)
        .map(|number| {
            let mut arguments = call(&[("a", json!([{"reply": format!("answer {number}")}]))]);
            if number == 0 {
                let prompt = &mut arguments["tasks"][0]["prompt"];
                *prompt = (prompt.as_str().unwrap().to_owned() + &" ".repeat(5_000_000)).into();
            }
            server.request(
                "tools/call",
                &json!({"name": DELEGATE, "arguments": arguments}),
            )
        })
        .collect();
    let outputs: Vec<Value> = ids
        .iter()
        .map(|id| {
            let answer = server.answer(*id);
            answer["result"]["_meta"]["pi-subagents/details"]["runs"][0]["output"].clone()
        })
        .collect();
    let expected: Vec<Value> = (0..20)
        .map(|number| json!(format!("answer {number}")))
        .collect();
    assert_eq!(outputs, expected);
}
