//! A client that sends more than is good, or reads nothing.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::RunningCommand;
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use rustix::fs::{OFlags, fcntl_setfl};
use serde_json::{Value, json};

use crate::mcp_stage::{PATIENCE, whole_lines};
use crate::stage::Stage;

fn line(message: &Value) -> String {
    format!("{message}\n")
}

fn request(id: usize, method: &str) -> String {
    line(&json!({"jsonrpc": "2.0", "id": id, "method": method}))
}

fn tool_call(id: usize, tool: &str, arguments: &Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    line(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
}

fn beginning() -> String {
    let initialize = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "flood", "version": "1"}
        }
    });
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    line(&initialize) + &line(&initialized)
}

/// Returns the most memory that a process has had, in kilobytes.
fn peak_memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    peak.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn every_request_of_a_flood_is_answered() {
    const REQUESTS: usize = 5000;
    let stage = Stage::new();
    let flood: String = (1..=REQUESTS).map(|id| request(id, "ping")).collect();
    let output = stage.command(&["mcp"]).stdin(beginning() + &flood).run();
    let mut ids: Vec<u64> = output
        .json_lines()
        .iter()
        .map(|answer| {
            assert_eq!(answer["error"], Value::Null);
            answer["id"].as_u64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..=REQUESTS as u64).collect::<Vec<_>>());
    assert_eq!(output.code, Some(0));
}

#[test]
fn a_client_that_reads_nothing_costs_little_and_keeps_nobody() {
    const REQUESTS: usize = 200_000;
    let stage = Stage::new();
    let mut server = stage
        .command(&["mcp"])
        .std_command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = server.stdin.take().unwrap();
    fcntl_setfl(&stdin, OFlags::NONBLOCK).unwrap();
    stdin.write_all(beginning().as_bytes()).unwrap();
    let mut flood = (1..=REQUESTS).map(|id| request(id, "tools/list"));
    // Each answer is some kilobytes: long before the end nothing more is taken.
    let is_refused = wait_until(PATIENCE, || {
        flood
            .by_ref()
            .find_map(|request| stdin.write_all(request.as_bytes()).err())
    });
    assert!(is_refused.is_some());
    let peak = peak_memory(server.id());
    assert!(peak < 200_000, "{peak} kB");
    drop(stdin);
    let left = wait_until(PATIENCE, || server.try_wait().unwrap());
    if left.is_none() {
        server.kill().unwrap();
    }
    assert_eq!(left.and_then(|status| status.code()), Some(0));
}

#[test]
fn hundreds_of_delegations_at_once_hinder_no_look_and_end_with_their_client() {
    const CALLS: usize = 250;
    let stage = Stage::new();
    let model = LlmServer::start(Script::new().otherwise([Turn::text("late").gate("never")]));
    stage.sandbox.models_json(&model.base_url());
    let mut server = stage.command(&["mcp", "--runner", "embedded"]).spawn();
    let send =
        |server: &mut RunningCommand, text: &str| assert!(server.write_line(text.trim_end()));
    for line in beginning().lines() {
        send(&mut server, line);
    }
    for id in 1..=CALLS {
        let tasks = json!({"tasks": [{"name": "wait", "prompt": "wait"}]});
        send(&mut server, &tool_call(id, "delegate_to_subagents", &tasks));
    }
    let look = json!({"action": "list"});
    send(&mut server, &tool_call(CALLS + 1, "subagent_runs", &look));
    let answered = wait_until(PATIENCE, || {
        let answers = whole_lines(&server.stdout());
        answers.into_iter().find(|answer| answer["id"] == CALLS + 1)
    });
    let answered = answered.unwrap();
    let is_look = answered["result"]["content"].is_array() && answered["result"]["isError"] != true;
    assert!(is_look, "{answered}");
    server.close_stdin();
    assert_eq!(server.wait().code, Some(0));
    let listed = stage.command(&["status", "--json", "--all"]).run();
    let runs: Value = serde_json::from_str(&listed.stdout).unwrap();
    let states: Vec<&Value> = runs["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["status"])
        .collect();
    assert!(
        states.iter().all(|state| **state == "stopped"),
        "{states:?}"
    );
}
