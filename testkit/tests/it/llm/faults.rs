//! Everything that goes wrong between an agent and its model.

use std::io::Read;
use std::time::Duration;

use pi_subagents_testkit::llm::{Fault, LlmServer, Script, Turn};
use pi_subagents_testkit::wait_until;
use serde_json::{Value, json};

use super::client::{chat, frames, read, say, send, send_as};

const CHAT: &str = "/v1/chat/completions";
const PATIENCE: Duration = Duration::from_mins(1);

fn ask(path: &str, turn: Turn) -> (String, String) {
    let server = LlmServer::start(Script::new().then([turn]));
    read(send(&server, path, &chat("m", "x")))
}

#[test]
fn errors_have_the_body_of_their_format() {
    let error = |path: &str, code: u16| -> (String, Value) {
        let (head, body) = ask(path, Turn::status(code, "no"));
        let status = head.split(' ').nth(1).unwrap().to_owned();
        (status, serde_json::from_str(&body).unwrap())
    };
    let openai =
        |kind: &str| json!({"error": {"message": "no", "type": kind, "param": null, "code": null}});
    assert_eq!(
        error(CHAT, 400),
        ("400".into(), openai("invalid_request_error"))
    );
    assert_eq!(
        error("/v1/responses", 401),
        ("401".into(), openai("authentication_error"))
    );
    assert_eq!(error(CHAT, 500), ("500".into(), openai("server_error")));
    assert_eq!(
        error("/v1/messages", 503),
        (
            "503".into(),
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "no"}})
        )
    );
    assert_eq!(
        error("/v1beta/models/m:streamGenerateContent?alt=sse", 429),
        (
            "429".into(),
            json!({"error": {"code": 429, "message": "no", "status": "RESOURCE_EXHAUSTED"}})
        )
    );
}

#[test]
fn a_limit_says_when_to_come_back() {
    let (head, _) = ask(
        CHAT,
        Turn::fault(Fault::Status {
            code: 429,
            message: "slow down".to_owned(),
            retry_after: Some(7),
        }),
    );
    assert!(head.contains("retry-after: 7"), "{head}");
}

#[test]
fn a_request_without_a_turn_is_told_so() {
    let server = LlmServer::start(Script::new().on("y", [Turn::text("yes")]));
    let (head, body) = read(send(&server, CHAT, &chat("m", "x")));
    assert!(head.starts_with("HTTP/1.0 500"), "{head}");
    assert!(body.contains("no rule has a turn for m and: x"), "{body}");
}

#[test]
fn an_unknown_path_is_not_found() {
    let (head, _) = ask("/v1/embeddings", Turn::text("x"));
    assert!(head.starts_with("HTTP/1.0 404"), "{head}");
}

#[test]
fn a_connection_is_dropped_before_the_headers() {
    assert_eq!(
        ask(CHAT, Turn::fault(Fault::Drop)),
        (String::new(), String::new())
    );
}

#[test]
fn the_server_serves_on_after_a_drop() {
    let script = Script::new().then([Turn::fault(Fault::Drop), Turn::text("again")]);
    let server = LlmServer::start(script);
    assert_eq!(say(&server, "x"), "");
    assert_eq!(say(&server, "x"), "again");
}

#[test]
fn a_stream_is_cut_after_what_was_sent() {
    let turn = Turn::text("Hello").with_fault(Fault::CutAfter(2));
    let server = LlmServer::start(Script::new().then([turn]));
    let (_, body) = read(send_as("HTTP/1.1", &server, CHAT, &chat("m", "x")));
    assert!(body.contains("Hello"), "{body}");
    assert!(!body.contains("finish_reason\":\"stop"), "{body}");
    assert!(!body.ends_with("0\r\n\r\n"), "{body}");
}

#[test]
fn a_stream_is_cut_at_its_end_at_the_latest() {
    let turn = Turn::text("Hello").with_fault(Fault::CutAfter(99));
    let server = LlmServer::start(Script::new().then([turn]));
    let (_, body) = read(send_as("HTTP/1.1", &server, CHAT, &chat("m", "x")));
    assert!(body.contains("[DONE]"), "{body}");
    assert!(!body.ends_with("0\r\n\r\n"), "{body}");
}

#[test]
fn a_frame_is_malformed() {
    let (_, body) = ask(CHAT, Turn::text("Hello").with_fault(Fault::Malformed));
    let frames = frames(&body);
    assert_eq!(frames[1], json!("{\"broken\": "));
    assert_eq!(frames[2]["choices"][0]["delta"]["content"], "Hello");
}

#[test]
fn a_hang_lasts_until_the_client_leaves() {
    let server = LlmServer::start(Script::new().then([Turn::fault(Fault::Hang)]));
    let stream = send(&server, CHAT, &chat("m", "x"));
    server.wait_for_requests(1, PATIENCE);
    assert_eq!(server.concurrent(), 1);
    drop(stream);
    let left = || (server.concurrent() == 0).then_some(());
    assert_eq!(wait_until(PATIENCE, left), Some(()));
}

#[test]
fn a_client_that_leaves_ends_its_stream() {
    let turn = Turn::text("Hello").gate_after(2, "never");
    let server = LlmServer::start(Script::new().then([turn]));
    let mut stream = send(&server, CHAT, &chat("m", "x"));
    stream.read_exact(&mut [0; 16]).unwrap();
    drop(stream);
    let left = || (server.concurrent() == 0).then_some(());
    assert_eq!(wait_until(PATIENCE, left), Some(()));
}

#[test]
fn a_server_that_is_dropped_lets_its_clients_go() {
    let server = LlmServer::start(Script::new().then([Turn::fault(Fault::Hang)]));
    let stream = send(&server, CHAT, &chat("m", "x"));
    server.wait_for_requests(1, PATIENCE);
    drop(server);
    assert_eq!(read(stream), (String::new(), String::new()));
}
