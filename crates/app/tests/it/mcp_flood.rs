//! A client that sends more than is good, or reads nothing.

use std::io::Write as _;
use std::process::Stdio;

use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::mcp_stage::PATIENCE;
use crate::stage::Stage;

fn line(message: &Value) -> String {
    format!("{message}\n")
}

fn request(id: usize, method: &str) -> String {
    line(&json!({"jsonrpc": "2.0", "id": id, "method": method}))
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
fn a_client_that_reads_nothing_keeps_nobody() {
    const REQUESTS: usize = 200;
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
    // Each answer is some kilobytes, so the pipe to the client is soon full.
    let flood: String = (1..=REQUESTS).map(|id| request(id, "tools/list")).collect();
    stdin.write_all((beginning() + &flood).as_bytes()).unwrap();
    drop(stdin);
    let left = wait_until(PATIENCE, || server.try_wait().unwrap());
    if left.is_none() {
        server.kill().unwrap();
    }
    assert_eq!(left.and_then(|status| status.code()), Some(0));
}
