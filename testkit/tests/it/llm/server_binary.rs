//! The binary for use by hand.

use std::io::{Read, Write};
use std::net::TcpStream;

use pi_subagents_testkit::bin;
use pi_subagents_testkit::sandbox::Sandbox;

#[test]
fn it_prints_its_url_and_serves_until_stdin_closes() {
    let sandbox = Sandbox::new();
    let script = r#"{"rules": [
        {"user": "fail", "turns": [{"fault": {"status": {"code": 429, "retryAfter": 1}}}]},
        {"turns": [{"text": "Hello.", "usage": {"cacheRead": 7}, "gate": "go", "stop": "length"}], "repeat": true}
    ]}"#;
    let path = sandbox.write("script.json", script);
    let mut server = sandbox.command(&bin("llm-server")).arg(path).spawn();
    let url = server.wait_for_stdout("\n");
    let address = url
        .trim()
        .strip_prefix("http://")
        .unwrap()
        .strip_suffix("/v1")
        .unwrap();
    assert!(server.write_line("go"));
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /v1/messages HTTP/1.0\r\ncontent-length: 2\r\n\r\n{{}}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(r#""stop_reason":"max_tokens""#), "{answer}");
    assert!(
        answer.contains(r#""cache_read_input_tokens":7"#),
        "{answer}"
    );
    server.close_stdin();
    assert_eq!(server.wait().code, Some(0));
}

#[test]
fn it_says_what_it_needs() {
    let output = Sandbox::new().command(&bin("llm-server")).run();
    assert_eq!(output.code, Some(1));
    let usage = "Error: \"usage: llm-server SCRIPT.json [ROOT.pem]\"\n";
    assert_eq!(output.stderr, usage);
}
