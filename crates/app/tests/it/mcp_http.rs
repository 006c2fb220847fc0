//! The MCP door over HTTP, driven by the official client, and by requests that no client sends.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use pi_subagents_testkit::process::wait_until_gone;
use pi_subagents_testkit::sandbox::RunningCommand;
use pi_subagents_testkit::{Signal, wait_until};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::mcp_stage::{McpClient, PATIENCE, at_work, endless, outputs};
use crate::stage::{Stage, call};

const DELEGATE: &str = "delegate_to_subagents";

/// A server that listens, with its address and its token.
struct HttpStage {
    stage: Stage,
    running: RunningCommand,
    url: String,
    token: String,
}

impl HttpStage {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(flags: &[&str]) -> Self {
        let stage = Stage::new();
        let running = stage
            .command(&["mcp", "--http", "127.0.0.1:0", "--runner", "pi"])
            .args(flags)
            .spawn();
        let said = running.wait_for_stderr("Stop it with Ctrl-C.");
        let url = said
            .lines()
            .find_map(|line| line.strip_prefix("Listening on "));
        let url = url.unwrap().to_owned();
        let file = stage.sandbox.agent_dir().join("subagents-mcp-token");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let token = fs::read_to_string(&file).unwrap().trim().to_owned();
        assert_eq!(token.len(), 64);
        assert!(!said.contains(&token));
        Self {
            stage,
            running,
            url,
            token,
        }
    }

    fn authority(&self) -> &str {
        let rest = self.url.strip_prefix("http://").unwrap();
        rest.strip_suffix("/mcp").unwrap()
    }

    /// The first line of the answer to a request with these headers.
    fn status(&self, headers: &[(&str, &str)], body: &str) -> String {
        let mut stream = TcpStream::connect(self.authority()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let headers: Vec<String> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let headers = headers.concat();
        let request = format!(
            "POST /mcp HTTP/1.1\r\n{headers}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        // A server that has refused may have closed before it has read all.
        _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        answer.lines().next().unwrap_or_default().to_owned()
    }
}

#[test]
fn a_client_over_http_has_the_same_tools_progress_and_cancelling() {
    for mode in ["legacy", "auto"] {
        let http = HttpStage::new();
        let mut client = McpClient::over_http(&http.stage, mode, &http.url, &http.token);
        let listed = client.list();
        assert_eq!(listed["tools"].as_array().unwrap().len(), 3);
        let arguments = call(&[("a", json!([{"reply": "done"}]))]);
        client.follow("a", DELEGATE, &arguments);
        assert_eq!(outputs(&client.answer("a")), [("a", "done")]);
        assert_ne!(client.progress("a"), Vec::<serde_json::Value>::new());
        client.call("endless", DELEGATE, &endless(&http.stage, "one"));
        let child = at_work(&http.stage, "one");
        client.cancel("endless");
        assert_eq!(wait_until_gone(&[child], PATIENCE), Ok(()));
        _ = client.leave();
    }
}

#[test]
fn a_signal_ends_the_server_and_its_runs() {
    let http = HttpStage::new();
    let mut client = McpClient::over_http(&http.stage, "legacy", &http.url, &http.token);
    client.call("endless", DELEGATE, &endless(&http.stage, "one"));
    let child = at_work(&http.stage, "one");
    http.running.kill(Signal::TERM);
    assert_eq!(http.running.wait().code, Some(143));
    assert_eq!(wait_until_gone(&[child], PATIENCE), Ok(()));
}

#[test]
fn strangers_and_pages_in_a_browser_are_refused() {
    let http = HttpStage::new();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"}
    }});
    let ping = ping.to_string();
    let host = ("Host", http.authority());
    let right = format!("Bearer {}", http.token);
    let wrong = format!("Bearer {}", "0".repeat(64));
    let known = ("Authorization", right.as_str());
    assert_eq!(http.status(&[host, known], &ping), "HTTP/1.1 200 OK");
    let small = format!("bearer {}", http.token);
    let small = ("Authorization", small.as_str());
    assert_eq!(http.status(&[host, small], &ping), "HTTP/1.1 200 OK");
    let refused = [
        http.status(&[host], &ping),
        http.status(&[host, ("Authorization", &wrong)], &ping),
        http.status(&[host, ("Authorization", &http.token)], &ping),
        http.status(&[("Host", "evil.example"), known], &ping),
        http.status(&[("Host", "evil.example:80"), known], &ping),
        http.status(&[host, known, ("Origin", "https://evil.example")], &ping),
        http.status(&[host, known, ("Origin", "null")], &ping),
        http.status(&[host, known], &" ".repeat(17 * 1024 * 1024)),
    ];
    let refused = refused.map(|status| status[..12.min(status.len())].to_owned());
    assert_eq!(refused[..3], ["HTTP/1.1 401"; 3]);
    assert_eq!(refused[3..7], ["HTTP/1.1 403"; 4]);
    // A client that sends too much may find the connection closed.
    assert!(
        ["HTTP/1.1 413", ""].contains(&&*refused[7]),
        "{}",
        refused[7]
    );
}

#[test]
fn pages_of_this_machine_are_let_in_if_somebody_says_so() {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"}
    }});
    let ping = ping.to_string();
    for (flags, expected) in [
        (&[][..], ["HTTP/1.1 403"; 2]),
        (
            &["--allow-local-origins"][..],
            ["HTTP/1.1 200", "HTTP/1.1 403"],
        ),
    ] {
        let http = HttpStage::with(flags);
        let host = ("Host", http.authority());
        let token = format!("Bearer {}", http.token);
        let token = ("Authorization", token.as_str());
        let local = ("Origin", "http://localhost:5173");
        let answers = [
            http.status(&[host, token, local], &ping),
            http.status(&[host, token, ("Origin", "https://evil.example")], &ping),
            http.status(&[host, local], &ping),
        ];
        let answers = answers.map(|status| status[..12].to_owned());
        assert_eq!(answers[..2], expected, "{flags:?}");
        assert_eq!(answers[2], "HTTP/1.1 401");
    }
}

#[test]
fn a_body_that_is_no_message_is_a_bad_request() {
    let http = HttpStage::new();
    let host = ("Host", http.authority());
    let token = format!("Bearer {}", http.token);
    let token = ("Authorization", token.as_str());
    for body in ["{\"jsonrpc\":", "}}}garbage", "[]"] {
        let status = http.status(&[host, token], body);
        assert_eq!(status, "HTTP/1.1 400 Bad Request", "{body}");
    }
}

#[test]
fn only_this_machine_is_listened_to() {
    let stage = Stage::new();
    let output = stage.command(&["mcp", "--http", "0.0.0.0:0"]).run();
    assert_eq!(output.code, Some(1));
    insta::assert_snapshot!(output.stderr, @"
    error: could not listen on this address
      caused by: 0.0.0.0:0 is not a loopback address
    hint: Give --http an address of this machine with a free port, such as 127.0.0.1:8765, or 127.0.0.1:0 for any port.
    ");
}

#[test]
fn clients_of_one_server_do_not_see_the_runs_of_each_other() {
    let http = HttpStage::new();
    let start = || McpClient::over_http(&http.stage, "legacy", &http.url, &http.token);
    let (mut one, mut other) = (start(), start());
    let tasks = call(&[("a", json!([{"reply": "done"}]))]);
    one.call("a", DELEGATE, &tasks);
    assert_eq!(outputs(&one.answer("a")), [("a", "done")]);
    let all = json!({"includeCompleted": true});
    other.call("list", "subagent_runs", &all);
    assert_eq!(
        other.answer("list")["text"],
        json!(["You have started none."])
    );
    assert_eq!(other.resources()["uris"], json!([]));
    one.call("list", "subagent_runs", &all);
    let own = one.answer("list")["text"][0].as_str().unwrap().to_owned();
    assert!(
        own.starts_with("Your sub-agents: 0 running, 1 completed"),
        "{own}"
    );
}

#[test]
fn sessions_are_resources() {
    for mode in ["legacy", "auto"] {
        let stage = Stage::new();
        let mut client = McpClient::start(&stage, mode, &["--runner", "pi"]);
        let arguments = call(&[("a", json!([{"reply": format!("done in {mode}")}]))]);
        client.call("a", DELEGATE, &arguments);
        let answer = client.answer("a");
        let session = answer["details"]["sessionIds"][0]
            .as_str()
            .unwrap()
            .to_owned();
        let seen = wait_until(PATIENCE, || Some(client.resources())).unwrap();
        assert_eq!(
            seen["uris"],
            json!([format!("subagent://sessions/{session}/output")])
        );
        assert_eq!(seen["names"], json!(["a"]));
        assert_eq!(seen["read"], json!([format!("done in {mode}")]));
        assert_eq!(
            seen["templates"],
            json!([
                "subagent://sessions/{sessionId}/output",
                "subagent://sessions/{sessionId}"
            ])
        );
        _ = client.leave();
    }
}
