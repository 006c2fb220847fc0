//! Where the library or a server may mislead us: one test for each trap.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::testing::{Server, events};
use crate::testing::{Bench, Sandbox};

fn bench(sandbox: &Sandbox, server: &Server, api: &str, flags: &str) -> Bench {
    let models = json!({"providers": {"fake": {
        "baseUrl": server.url, "api": api, "apiKey": "sk-secret",
        "models": [{"id": "m", "reasoning": true,
                    "cost": {"input": 1.0, "output": 2.0, "cacheRead": 0.5, "cacheWrite": 4.0}}]}}});
    sandbox.write("agent/models.json", models.to_string());
    sandbox.write("agent/settings.json", r#"{"retry": {"baseDelayMs": 1}}"#);
    sandbox
        .agent(&format!("--model fake/m --no-session --tools ls {flags}"))
        .unwrap()
}

/// Plays the streams one after the other and returns the events of one prompt.
async fn played(api: &str, flags: &str, streams: &[&[Value]]) -> (Vec<Value>, Server) {
    let sandbox = Sandbox::new();
    let answers = streams.iter().map(|frames| named(frames)).collect();
    let server = Server::start(answers).await;
    let mut bench = bench(&sandbox, &server, api, flags);
    let events = bench.prompt("Go.").await;
    (events, server)
}

/// Frames with the event names that Anthropic's format needs.
fn named(frames: &[Value]) -> String {
    let plain = events(&[]);
    let mut text = plain;
    for frame in frames {
        if let Some(name) = frame["type"].as_str() {
            text.extend(["event: ", name, "\n"]);
        }
        text.extend(["data: ", &frame.to_string(), "\n\n"]);
    }
    text
}

fn answers(events: &[Value]) -> Vec<Value> {
    let ends = events
        .iter()
        .filter(|event| event["type"] == "message_end" && event["message"]["role"] == "assistant");
    ends.map(|event| event["message"].clone()).collect()
}

const RESPONSES: &str = "openai-responses";
const MESSAGES: &str = "anthropic-messages";
const GOOGLE: &str = "google-generative-ai";

fn completed(output: &Value) -> Value {
    json!({"type": "response.completed", "response": {
        "id": "resp_1", "status": "completed", "model": "m", "output": output,
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}})
}

fn call_item(arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "ls", "arguments": arguments})
}

fn said(text: &str) -> Vec<Value> {
    vec![
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}),
        completed(&json!([])),
    ]
}

#[tokio::test]
async fn a_response_whose_end_is_not_understood_is_an_error() {
    let mut unreadable = completed(&json!([call_item("{}")]));
    unreadable["response"]
        .as_object_mut()
        .unwrap()
        .remove("model");
    let (events, server) = played(RESPONSES, "", &[&[unreadable]]).await;
    let answer = &answers(&events)[0];
    assert_eq!(answer["stopReason"], "error");
    let error = answer["errorMessage"].as_str().unwrap();
    assert!(
        error.starts_with("The response ended without usage"),
        "{error}"
    );
    assert_eq!(server.requests().len(), 1, "asking again would not help");
}

#[tokio::test]
async fn arguments_that_come_only_at_the_end_are_not_lost() {
    let added =
        json!({"type": "response.output_item.added", "output_index": 0, "item": call_item("")});
    let half = json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{\"pa"});
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": call_item("{\"path\": \"..\"}")});
    let end = completed(&json!([]));
    for frames in [
        vec![added.clone(), half, done.clone(), end.clone()],
        vec![added, done.clone(), end.clone()],
        vec![done, end],
        vec![completed(&json!([call_item("{\"path\": \"..\"}")]))],
    ] {
        let (events, server) = played(RESPONSES, "", &[&frames, &said("Done.")]).await;
        let answer = &answers(&events)[0];
        assert_eq!(
            answer["content"],
            json!([{"type": "toolCall", "id": "call_1", "name": "ls", "arguments": {"path": ".."}}])
        );
        assert_eq!(answer["stopReason"], "toolUse", "the calls decide");
        assert_eq!(answer["rawStopReason"], "completed");
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_failed_response_says_why() {
    let failed = |code: &str| {
        json!({"type": "response.failed", "response": {
            "id": "resp_1", "status": "failed", "model": "m",
            "error": {"code": code, "message": "It broke."}}})
    };
    let frames = [failed("server_error")];
    let (events, _) = played(RESPONSES, "", &[&frames, &said("Done.")]).await;
    let answers = answers(&events);
    assert_eq!(answers[0]["errorMessage"], "server_error: It broke.");
    assert_eq!(answers[1]["content"][0]["text"], "Done.", "it was retried");
    let frames = [failed("invalid_prompt")];
    let (events, server) = played(RESPONSES, "", &[&frames]).await;
    assert_eq!(
        self::answers(&events)[0]["errorMessage"],
        "invalid_prompt: It broke."
    );
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn encrypted_reasoning_goes_back_to_the_model() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "c2VjcmV0",
                           "summary": [{"type": "summary_text", "text": "Hm."}]});
    let first = [
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "Hm."}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": reasoning}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": call_item("{}")}),
        completed(&json!([])),
    ];
    let (events, server) = played(RESPONSES, "--thinking low", &[&first, &said("Done.")]).await;
    let thought = &answers(&events)[0]["content"][0];
    assert_eq!(thought["thinking"], "Hm.");
    let kept: Value = serde_json::from_str(thought["thinkingSignature"].as_str().unwrap()).unwrap();
    assert_eq!(kept, reasoning, "the whole item, as pi keeps it");
    let requests = server.requests();
    assert_eq!(
        requests[0].body["reasoning"],
        json!({"effort": "low", "summary": "auto"})
    );
    assert_eq!(
        requests[0].body["include"],
        json!(["reasoning.encrypted_content"])
    );
    assert_eq!(requests[0].body["tools"][0]["strict"], false);
    let back: Vec<&Value> = requests[1].body["input"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert_eq!(back[1]["type"], "reasoning");
    assert_eq!(back[1]["encrypted_content"], "c2VjcmV0");
    assert_eq!(back[2]["type"], "function_call");
    assert_eq!(back[3]["type"], "function_call_output");
}

fn google(parts: &Value, finish: Option<&str>) -> Value {
    let mut frame = json!({"candidates": [{"content": {"parts": parts, "role": "model"}}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}});
    if let Some(finish) = finish {
        frame["candidates"][0]["finishReason"] = json!(finish);
    }
    frame
}

#[tokio::test]
async fn calls_of_google_get_ids_that_are_not_sent_back() {
    let call = |signature: Option<&str>| {
        let mut part = json!({"functionCall": {"name": "ls", "args": {}}});
        if let Some(signature) = signature {
            part["thoughtSignature"] = json!(signature);
        }
        part
    };
    let two = [
        google(&json!([call(Some("c2lnMQ=="))]), None),
        google(&json!([call(None)]), Some("STOP")),
    ];
    let again = [google(&json!([call(None)]), Some("STOP"))];
    let done = [google(
        &json!([{"text": "Done."}, {"text": "", "thoughtSignature": "c2lnMg=="}]),
        Some("STOP"),
    )];
    let (events, server) = played(GOOGLE, "", &[&two, &again, &done]).await;
    let answers = answers(&events);
    let mut ids: Vec<String> = answers[..2]
        .iter()
        .flat_map(|answer| answer["content"].as_array().unwrap().clone())
        .map(|block| block["id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3, "{ids:?}");
    assert_eq!(answers[0]["content"][0]["thoughtSignature"], "c2lnMQ==");
    assert_eq!(answers[0]["stopReason"], "toolUse", "the calls decide");
    assert_eq!(answers[0]["usage"]["output"], 5, "thoughts are output");
    assert_eq!(answers[2]["content"][0]["textSignature"], "c2lnMg==");
    let last = server.requests()[2].body["contents"].clone();
    let parts = &last[1]["parts"];
    assert_eq!(parts[0]["thoughtSignature"], "c2lnMQ==");
    assert_eq!(parts[0]["functionCall"]["id"], Value::Null);
    let results = &last[2]["parts"];
    assert_eq!(results[1]["functionResponse"]["name"], "ls");
}

#[tokio::test]
async fn a_stream_of_google_that_just_stops_is_cut() {
    let cut = [google(&json!([{"text": "Half an"}]), None)];
    let whole = [google(&json!([{"text": "All of it."}]), Some("STOP"))];
    let (events, _) = played(GOOGLE, "", &[&cut, &whole]).await;
    let answers = answers(&events);
    assert_eq!(
        answers[0]["errorMessage"],
        "The stream ended before the answer was complete."
    );
    assert_eq!(answers[1]["content"][0]["text"], "All of it.");
}

#[tokio::test]
async fn a_reason_that_nobody_knows_does_not_spoil_a_call() {
    let call = json!([{"functionCall": {"name": "ls", "args": {}}}]);
    let first = [google(&call, Some("FUNCTION_CALL"))];
    let done = [google(&json!([{"text": "Done."}]), Some("STOP"))];
    let (events, _) = played(GOOGLE, "", &[&first, &done]).await;
    let answers = answers(&events);
    assert_eq!(answers[0]["stopReason"], "toolUse");
    assert_eq!(answers[1]["content"][0]["text"], "Done.");
}

#[tokio::test]
async fn a_call_that_google_could_not_write_is_an_error() {
    let frames = [google(
        &json!([{"text": "I"}]),
        Some("MALFORMED_FUNCTION_CALL"),
    )];
    let (events, _) = played(GOOGLE, "", &[&frames]).await;
    assert_eq!(
        answers(&events)[0]["errorMessage"],
        "Provider finish_reason: MALFORMED_FUNCTION_CALL"
    );
}

fn anthropic(blocks: &[Value]) -> Vec<Value> {
    let usage = json!({"input_tokens": 100, "cache_read_input_tokens": 64,
                       "cache_creation_input_tokens": 8, "output_tokens": 1});
    let mut frames =
        vec![json!({"type": "message_start", "message": {"id": "msg_1", "usage": usage}})];
    frames.extend(blocks.iter().cloned());
    frames.push(
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                       "usage": {"output_tokens": 20}}),
    );
    frames.push(json!({"type": "message_stop"}));
    frames
}

fn block(index: u32, start: &Value, deltas: &[Value]) -> Vec<Value> {
    let mut frames =
        vec![json!({"type": "content_block_start", "index": index, "content_block": start})];
    for delta in deltas {
        frames.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    }
    frames.push(json!({"type": "content_block_stop", "index": index}));
    frames
}

#[tokio::test]
async fn cached_tokens_are_counted_and_paid_once() {
    let text = block(
        0,
        &json!({"type": "text", "text": ""}),
        &[json!({"type": "text_delta", "text": "Hi."})],
    );
    let (events, server) = played(MESSAGES, "", &[&anthropic(&text)]).await;
    let answer = &answers(&events)[0];
    let usage = &answer["usage"];
    assert_eq!(
        json!([
            usage["input"],
            usage["cacheRead"],
            usage["cacheWrite"],
            usage["output"],
            usage["totalTokens"]
        ]),
        json!([100, 64, 8, 20, 192])
    );
    let cost = usage["cost"]["total"].as_f64().unwrap();
    assert!((cost - 204e-6).abs() < 1e-12, "{cost}");
    assert_eq!(answer["responseId"], "msg_1");
    let body = &server.requests()[0].body;
    let mark = json!({"type": "ephemeral"});
    assert_eq!(body["system"][0]["cache_control"], mark);
    assert_eq!(body["messages"][0]["content"][0]["cache_control"], mark);
}

#[tokio::test]
async fn signed_and_hidden_thoughts_go_back_in_their_order() {
    let mut frames = block(
        0,
        &json!({"type": "thinking", "thinking": "", "signature": ""}),
        &[
            json!({"type": "thinking_delta", "thinking": "First."}),
            json!({"type": "signature_delta", "signature": "c2ln"}),
            json!({"type": "signature_delta", "signature": "bmVk"}),
        ],
    );
    frames.extend(block(
        1,
        &json!({"type": "redacted_thinking", "data": "aGlkZGVu"}),
        &[],
    ));
    frames.extend(block(
        2,
        &json!({"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}),
        &[
            json!({"type": "input_json_delta", "partial_json": "{\"path\":"}),
            json!({"type": "input_json_delta", "partial_json": " \".\"}"}),
        ],
    ));
    let text = block(
        0,
        &json!({"type": "text", "text": ""}),
        &[json!({"type": "text_delta", "text": "Done."})],
    );
    let streams: [&[Value]; 2] = [&anthropic(&frames), &anthropic(&text)];
    let (events, server) = played(MESSAGES, "--thinking high", &streams).await;
    let content = answers(&events)[0]["content"].clone();
    assert_eq!(content[0]["thinkingSignature"], "c2lnbmVk");
    let hidden = content.as_array().unwrap().last().unwrap();
    assert_eq!(hidden["redacted"], true);
    let deltas: Vec<&str> = events
        .iter()
        .filter(|event| event["assistantMessageEvent"]["type"] == "toolcall_delta")
        .filter_map(|event| event["assistantMessageEvent"]["delta"].as_str())
        .collect();
    assert_eq!(
        deltas,
        ["{\"path\":", " \".\"}"],
        "pieces, not the whole again"
    );
    let back = &server.requests()[1].body["messages"][1]["content"];
    assert_eq!(
        *back,
        json!([
            {"type": "thinking", "thinking": "First.", "signature": "c2lnbmVk"},
            {"type": "redacted_thinking", "data": "aGlkZGVu"},
            {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {"path": "."}},
        ])
    );
    let result = &server.requests()[1].body["messages"][2]["content"][0];
    assert_eq!(result["type"], "tool_result");
    assert_eq!(result["tool_use_id"], "toolu_1");
    assert_eq!(result["is_error"], false);
}

#[tokio::test]
async fn an_overload_in_the_middle_of_a_stream_is_tried_again() {
    let frames = [
        json!({"type": "message_start", "message": {"id": "msg_1"}}),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    ];
    let text = block(
        0,
        &json!({"type": "text", "text": ""}),
        &[json!({"type": "text_delta", "text": "Done."})],
    );
    let (events, _) = played(MESSAGES, "", &[&frames, &anthropic(&text)]).await;
    let answers = answers(&events);
    assert_eq!(
        answers[0]["errorMessage"],
        "Provider returned error: Overloaded"
    );
    assert_eq!(answers[1]["content"][0]["text"], "Done.");
}

#[tokio::test]
async fn names_of_models_are_sent_as_they_are() {
    let sandbox = Sandbox::new();
    for (api, frames) in [
        (RESPONSES, said("Hi.")),
        (MESSAGES, anthropic(&[])),
        (
            GOOGLE,
            vec![google(&json!([{"text": "Hi."}]), Some("STOP"))],
        ),
    ] {
        let server = Server::start(vec![named(&frames)]).await;
        let mut bench = bench(&sandbox, &server, api, "");
        bench
            .access
            .switch(&bench.agent, "fake", "qwen-max")
            .await
            .unwrap();
        bench.prompt("Hi.").await;
        let request = &server.requests()[0];
        let is_there = request.body["model"] == "qwen-max"
            || request
                .head
                .contains("/models/qwen-max:streamGenerateContent");
        assert!(is_there, "{api}: {}", request.head);
        assert_eq!(request.body["thinking"], Value::Null, "{api}");
    }
}

#[tokio::test]
async fn a_completion_without_the_last_mark_is_complete() {
    let chunk = |delta: Value, finish: Option<&str>| json!({"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let frames = [
        chunk(json!({"content": "Hi."}), None),
        chunk(json!({}), Some("stop")),
        json!({"id": "c1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
    ];
    let (events, _) = played("openai-completions", "", &[&frames]).await;
    let answer = &answers(&events)[0];
    assert_eq!(answer["stopReason"], "stop");
    assert_eq!(answer["responseId"], "c1");
    assert_eq!(answer["usage"]["totalTokens"], 5);
}

#[tokio::test]
async fn ids_that_a_server_uses_again_are_told_apart() {
    let call = json!({"id": "c1", "choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "function": {"name": "ls", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}]});
    let done = json!({"id": "c1", "choices": [{"index": 0, "delta": {"content": "Done."}, "finish_reason": "stop"}]});
    let once = std::slice::from_ref(&call);
    let streams: [&[Value]; 3] = [once, once, std::slice::from_ref(&done)];
    let (events, server) = played("openai-completions", "", &streams).await;
    let answers = answers(&events);
    assert_ne!(
        answers[0]["content"][0]["id"],
        answers[1]["content"][0]["id"]
    );
    let sent = &server.requests()[2].body["messages"];
    assert_eq!(sent[4]["tool_calls"][0]["id"], sent[5]["tool_call_id"]);
}
