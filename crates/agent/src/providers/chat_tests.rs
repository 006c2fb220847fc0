//! The chat completions wire format, against a small server.

use std::sync::Arc;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::testing::{Server, events, failure, whole};
use crate::testing::{Bench, Sandbox, messages_of, normalized, outline};

fn delta(delta: &Value) -> Value {
    json!({"id": "chatcmpl-1", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn stop(reason: &str) -> Value {
    json!({"id": "chatcmpl-1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn usage() -> Value {
    json!({"choices": [], "usage": {
        "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 8}}})
}

fn bench(sandbox: &mut Sandbox, server: &Server) -> Bench {
    let models = json!({"providers": {"fake": {
        "baseUrl": server.url, "api": "openai-completions", "apiKey": "$FAKE_KEY",
        "headers": {"x-team": "${TEAM}", "x-gateway": "Bearer gateway-0123456789"},
        "models": [{"id": "m", "reasoning": true, "maxTokens": 512,
                    "cost": {"input": 1.0, "output": 2.0, "cacheRead": 0.5, "cacheWrite": 0.0}}]}}});
    sandbox.write("agent/models.json", models.to_string());
    sandbox.write("agent/settings.json", r#"{"retry": {"baseDelayMs": 1}}"#);
    sandbox
        .variables
        .insert("FAKE_KEY".to_owned(), "sk-secret".to_owned());
    sandbox
        .variables
        .insert("TEAM".to_owned(), "blue".to_owned());
    sandbox.agent("--model fake/m:low --tools read").unwrap()
}

#[tokio::test]
async fn thinking_text_tool_calls_usage_and_cost_arrive() {
    let mut sandbox = Sandbox::new();
    sandbox.write("project/a.txt", "hello");
    let call = |index: u32, id: &str| json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": "read", "arguments": ""}}]});
    let arguments = |index: u32, part: &str| json!({"tool_calls": [{"index": index, "function": {"arguments": part}}]});
    let server = Server::start(vec![
        whole(&[
            delta(&json!({"reasoning_content": "Hm."})),
            delta(&json!({"content": "Let me "})),
            delta(&json!({"content": "look."})),
            delta(&call(0, "call_a")),
            delta(&arguments(0, "{\"path\":")),
            delta(&arguments(0, "\"a.txt\"}")),
            delta(&call(1, "call_b")),
            delta(&arguments(1, "{\"path\": \"b.txt\"}")),
            stop("tool_calls"),
            usage(),
        ]),
        whole(&[delta(&json!({"content": "Done."})), stop("stop"), usage()]),
    ])
    .await;
    let mut bench = bench(&mut sandbox, &server);
    let events = bench.prompt("What is in a.txt?").await;
    let answers = messages_of("assistant", &events);
    assert_eq!(
        answers[0]["content"],
        json!([
            {"type": "thinking", "thinking": "Hm."},
            {"type": "text", "text": "Let me look."},
            {"type": "toolCall", "id": "call_a", "name": "read", "arguments": {"path": "a.txt"}},
            {"type": "toolCall", "id": "call_b", "name": "read", "arguments": {"path": "b.txt"}},
        ])
    );
    assert_eq!(
        answers[0]["usage"],
        json!({
            "input": 36, "output": 20, "cacheRead": 64, "cacheWrite": 0, "reasoning": 8, "totalTokens": 120,
            "cost": {"input": 3.6e-5, "output": 4e-5, "cacheRead": 3.2e-5, "cacheWrite": 0.0, "total": 1.08e-4},
        })
    );
    assert_eq!(answers[0]["stopReason"], "toolUse");
    assert_eq!(answers[0]["rawStopReason"], "tool_calls");
    assert_eq!(
        answers[1]["content"],
        json!([{"type": "text", "text": "Done."}])
    );
    assert_eq!(answers[1]["stopReason"], "stop");

    let requests = server.requests();
    let head = requests[0].head.to_lowercase();
    assert!(head.starts_with("post /v1/chat/completions "), "{head}");
    assert!(head.contains("authorization: bearer sk-secret"), "{head}");
    assert!(head.contains("x-team: blue"), "{head}");
    let mut body = requests[1].body.clone();
    body["messages"][0]["content"] = json!("SYSTEM");
    body["tools"][0]["function"]["description"] = json!("…");
    body["tools"][0]["function"]["parameters"] = json!("…");
    insta::assert_snapshot!(
        normalized(&serde_json::to_string_pretty(&body).unwrap(), &sandbox.path("project")),
        @r#"
    {
      "model": "m",
      "stream": true,
      "tools": [
        {
          "type": "function",
          "function": {
            "name": "read",
            "description": "…",
            "parameters": "…",
            "strict": false
          }
        }
      ],
      "messages": [
        {
          "role": "system",
          "content": "SYSTEM"
        },
        {
          "role": "user",
          "content": "What is in a.txt?"
        },
        {
          "role": "assistant",
          "content": "Let me look.",
          "tool_calls": [
            {
              "type": "function",
              "id": "call_a",
              "function": {
                "name": "read",
                "arguments": "{\"path\":\"a.txt\"}"
              }
            },
            {
              "type": "function",
              "id": "call_b",
              "function": {
                "name": "read",
                "arguments": "{\"path\":\"b.txt\"}"
              }
            }
          ],
          "reasoning_content": "Hm."
        },
        {
          "role": "tool",
          "content": "hello",
          "tool_call_id": "call_a"
        },
        {
          "role": "tool",
          "content": "ENOENT: no such file or directory, access 'ROOT/b.txt'",
          "tool_call_id": "call_b"
        }
      ],
      "stream_options": {
        "include_usage": true
      },
      "max_tokens": 512,
      "reasoning_effort": "low"
    }
    "#
    );
    assert!(
        !events
            .iter()
            .any(|event| event.to_string().contains("sk-secret"))
    );
}

#[tokio::test]
async fn a_name_that_ends_like_a_level_is_left_alone() {
    let mut sandbox = Sandbox::new();
    let answer = whole(&[delta(&json!({"content": "Hi."})), stop("stop")]);
    let server = Server::start(vec![answer]).await;
    let mut bench = bench(&mut sandbox, &server);
    bench
        .access
        .switch(&bench.agent, "fake", "qwen-max")
        .await
        .unwrap();
    bench.prompt("hi").await;
    let body = &server.requests()[0].body;
    assert_eq!(body["model"], "qwen-max");
    assert_eq!(body["reasoning_effort"], Value::Null);
}

#[tokio::test]
async fn errors_are_retried_or_reported() {
    let mut sandbox = Sandbox::new();
    let limited = r#"{"error": {"message": "Rate limit reached"}}"#;
    let server = Server::start(vec![
        failure("429 Too Many Requests", "retry-after: 0\r\n", limited),
        // A stream that stops in the middle, and an answer that never was a stream.
        events(&[delta(&json!({"content": "Half an ans"}))]),
        failure("500 Internal Server Error", "", ""),
        whole(&[delta(&json!({"content": "There."})), stop("stop"), usage()]),
        failure(
            "401 Unauthorized",
            "",
            r#"{"error": {"message": "Incorrect API key sk-secret"}}"#,
        ),
    ])
    .await;
    let mut bench = bench(&mut sandbox, &server);
    let first = outline(&bench.prompt("one").await);
    let second = outline(&bench.prompt("two").await);
    insta::assert_snapshot!(format!("{first}\n\n{second}"), @r#"
    agent_start
    turn_start
    message role="system"
    message role="user" "one"
    message role="assistant" stopReason="error" errorMessage="429: Rate limit reached"
    turn_end
    agent_end willRetry=true
    auto_retry_start attempt=1 delayMs=0 errorMessage="429: Rate limit reached"
    entry_appended type="context_edit"
    agent_start
    turn_start
    streamed role="assistant" stopReason="error" errorMessage="The stream ended before the answer was complete." "Half an ans"
    turn_end
    agent_end willRetry=true
    auto_retry_start attempt=2 delayMs=2 errorMessage="The stream ended before the answer was complete."
    entry_appended type="context_edit"
    agent_start
    turn_start
    message role="assistant" stopReason="error" errorMessage="500: status code (no body)"
    turn_end
    agent_end willRetry=true
    auto_retry_start attempt=3 delayMs=4 errorMessage="500: status code (no body)"
    entry_appended type="context_edit"
    agent_start
    turn_start
    streamed role="assistant" stopReason="stop" "There."
    auto_retry_end attempt=3 success=true
    turn_end
    agent_end willRetry=false
    agent_settled

    agent_start
    turn_start
    message role="user" "two"
    message role="assistant" stopReason="error" errorMessage="401: Incorrect API key ****"
    turn_end
    agent_end willRetry=false
    agent_settled
    "#);
}

#[tokio::test]
async fn a_key_in_a_header_is_taken_out_of_an_error() {
    let mut sandbox = Sandbox::new();
    let refusal = r#"{"error": {"message": "Team blue may not use gateway-0123456789."}}"#;
    let server = Server::start(vec![failure("403 Forbidden", "", refusal)]).await;
    let mut bench = bench(&mut sandbox, &server);
    let events = bench.prompt("hi").await;
    let answers = messages_of("assistant", &events);
    assert_eq!(
        answers[0]["errorMessage"],
        "403: Team blue may not use ****."
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let mut sandbox = Sandbox::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let server = Server {
        url: url.clone(),
        requests: Arc::default(),
    };
    let mut bench = bench(&mut sandbox, &server);
    let events = bench.prompt("hi").await;
    let answers = messages_of("assistant", &events);
    assert_eq!(answers.len(), 2, "asked once, and once again");
    let error = answers[1]["errorMessage"].as_str().unwrap();
    insta::assert_snapshot!(error.replace(url.trim_end_matches("/v1"), "SERVER"), @"Connection error to SERVER: Connection refused (os error 111). Nothing listens there; is that server running?");
}

#[tokio::test]
async fn a_missing_key_refuses_the_prompt_and_says_what_to_set() {
    let sandbox = Sandbox::new();
    let bench = sandbox.agent("--model groq/llama").unwrap();
    let keyless = bench.access.ready(&bench.agent).await.unwrap_err();
    let bench = sandbox.agent("").unwrap();
    let undecided = bench.access.ready(&bench.agent).await.unwrap_err();
    let refusals = format!("{keyless}\n---\n{undecided}");
    insta::assert_snapshot!(normalized(&refusals, &sandbox.path("")), @r#"
    No API key found for groq.

    Set the environment variable GROQ_API_KEY, or put {"groq": {"type": "api_key", "key": "..."}} into ROOT/agent/auth.json.
    ---
    No model selected.

    Name one with --model provider/id, or set defaultProvider and defaultModel in ROOT/agent/settings.json.
    "#);
}

#[tokio::test]
async fn an_address_with_a_variable_in_it_is_filled() {
    let mut sandbox = Sandbox::new();
    let flags = "--no-session --model cloudflare-workers-ai/m";
    let value = ("CLOUDFLARE_API_KEY".to_owned(), "k".to_owned());
    sandbox.variables.extend([value]);
    let bench = sandbox.agent(flags).unwrap();
    assert_eq!(
        bench
            .access
            .ready(&bench.agent)
            .await
            .unwrap_err()
            .to_string(),
        "Provider cloudflare-workers-ai needs the environment variable CLOUDFLARE_ACCOUNT_ID."
    );
    let value = ("CLOUDFLARE_ACCOUNT_ID".to_owned(), "acc".to_owned());
    sandbox.variables.extend([value]);
    let bench = sandbox.agent(flags).unwrap();
    assert_eq!(
        bench.agent.model().unwrap().base_url,
        "https://api.cloudflare.com/client/v4/accounts/acc/ai/v1"
    );
}
