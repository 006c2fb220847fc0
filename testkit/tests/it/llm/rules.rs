//! The turns that answer, the requests that wait at a gate, and the requests that are recorded.

use std::thread;
use std::time::Duration;

use pi_subagents_testkit::llm::{LlmServer, Rule, Script, Turn};
use pi_subagents_testkit::wait_until;
use serde_json::json;

use super::client::{chat, read, say, send};

const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn rules_are_asked_in_order_and_turns_are_used_up() {
    let server = LlmServer::start(
        Script::new()
            .on("sum", [Turn::text("one"), Turn::text("two")])
            .on_every("loop", [Turn::text("a"), Turn::text("b")])
            .otherwise([Turn::text("other")]),
    );
    let asked = ["a sum", "a loop", "sum it", "sum", "loop", "loop"];
    let answers = asked.map(|text| say(&server, text));
    assert_eq!(answers, ["one", "a", "two", "other", "b", "a"]);
}

#[test]
fn a_rule_may_name_the_model() {
    let server = LlmServer::start(
        Script::new()
            .on_model("big", [Turn::text("from big")])
            .rule(Rule {
                model: Some("fake-model".to_owned()),
                user: Some("x".to_owned()),
                turns: vec![Turn::text("from fake")],
                repeat: false,
            }),
    );
    assert_eq!(say(&server, "x"), "from fake");
    let (_, body) = read(send(&server, "/v1/chat/completions", &chat("big", "x")));
    assert!(body.contains("from big"));
}

#[test]
fn results_of_tools_are_not_the_words_of_the_user() {
    let conversations = [
        (
            "/v1/chat/completions",
            json!({"messages": [
                {"role": "user", "content": [{"type": "text", "text": "find it"}]},
                {"role": "assistant", "tool_calls": []},
                {"role": "tool", "content": "trap"},
            ]}),
        ),
        (
            "/v1/responses",
            json!({"input": [
                {"role": "user", "content": [{"type": "input_text", "text": "find it"}]},
                {"type": "function_call_output", "output": "trap"},
            ]}),
        ),
        (
            "/v1/messages",
            json!({"messages": [
                {"role": "user", "content": "find it"},
                {"role": "user", "content": [{"type": "tool_result", "content": "trap"}]},
            ]}),
        ),
        (
            "/v1beta/models/m:generateContent",
            json!({"contents": [
                {"role": "user", "parts": [{"text": "find it"}]},
                {"role": "user", "parts": [{"functionResponse": {"response": "trap"}}]},
            ]}),
        ),
    ];
    for (path, body) in conversations {
        let server = LlmServer::start(
            Script::new()
                .on("trap", [Turn::text("wrong")])
                .on("find it", [Turn::text("right")]),
        );
        let (_, answer) = read(send(&server, path, &body));
        assert!(answer.contains("right"), "{path}: {answer}");
    }
}

#[test]
fn requests_are_recorded() {
    let server = LlmServer::start(Script::new().otherwise([Turn::text("hi")]));
    say(&server, "hello");
    let [request] = server.requests().try_into().unwrap();
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.headers["authorization"], "Bearer test-key");
    assert_eq!(request.body, chat("fake-model", "hello"));
    assert!(server.base_url().ends_with("/v1"));
}

#[test]
fn requests_wait_at_a_gate_and_are_counted() {
    let server = LlmServer::start(Script::new().otherwise([Turn::text("through").gate("door")]));
    thread::scope(|scope| {
        let asking: Vec<_> = (0..3).map(|_| scope.spawn(|| say(&server, "x"))).collect();
        server.wait_for_requests(3, PATIENCE);
        assert!(asking.iter().all(|thread| !thread.is_finished()));
        assert_eq!(server.concurrent(), 3);
        server.release("door");
        for thread in asking {
            assert_eq!(thread.join().unwrap(), "through");
        }
    });
    // A gate stays open.
    assert_eq!(say(&server, "x"), "through");
    assert_eq!(server.max_concurrent(), 3);
    let none_open = || (server.concurrent() == 0).then_some(());
    assert_eq!(wait_until(PATIENCE, none_open), Some(()));
}

#[test]
fn a_gate_may_stand_in_the_middle_of_a_stream() {
    use std::io::Read;

    let turn = Turn::text("Hello")
        .paced(1, Duration::ZERO)
        .gate_after(3, "rest");
    let server = LlmServer::start(Script::new().then([turn]));
    let mut stream = send(&server, "/v1/chat/completions", &chat("m", "x"));
    let mut seen = String::new();
    while !seen.contains("\"e\"") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        seen.push(char::from(byte[0]));
    }
    server.release("rest");
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("\"o\"") && rest.ends_with("data: [DONE]\n\n"));
}
