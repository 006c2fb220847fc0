//! Each wire format once, every frame of it.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn, Usage};
use serde_json::{Value, json};

use super::client::{frames, read, send};

/// One turn with everything in it.
fn rich() -> Turn {
    Turn::text("Hello")
        .thinking("Hm")
        .and_tool_call("bash", json!({"command": "ls"}))
        .and_tool_call("read", json!({"path": "a"}))
        .usage(Usage {
            input: 50,
            output: 20,
            cache_read: 30,
            cache_write: 5,
            reasoning: 4,
        })
}

fn ask(path: &str, body: &Value, turn: Turn) -> (String, String) {
    let server = LlmServer::start(Script::new().then([turn]));
    read(send(&server, path, body))
}

fn streamed(path: &str, turn: Turn) -> String {
    let (head, body) = ask(path, &json!({"model": "m", "stream": true}), turn);
    assert!(head.starts_with("HTTP/1.0 200 OK"), "{head}");
    assert!(head.contains("content-type: text/event-stream"), "{head}");
    body
}

fn whole(path: &str, turn: Turn) -> Value {
    let (head, body) = ask(path, &json!({"model": "m"}), turn);
    assert!(head.contains("content-type: application/json"), "{head}");
    serde_json::from_str(&body).unwrap()
}

#[test]
fn chat_completions_are_streamed() {
    let chunk = |choices: Value| {
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_763_000_000,
            "model": "m", "choices": choices,
        })
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut last = chunk(json!([]));
    last["usage"] = json!({
        "prompt_tokens": 85, "completion_tokens": 20, "total_tokens": 105,
        "prompt_tokens_details": {"cached_tokens": 30},
        "completion_tokens_details": {"reasoning_tokens": 4},
    });
    assert_eq!(
        frames(&streamed("/v1/chat/completions", rich())),
        [
            delta(json!({"role": "assistant", "content": ""})),
            delta(json!({"reasoning_content": "Hm"})),
            delta(json!({"content": "Hello"})),
            delta(
                json!({"tool_calls": [{"index": 0, "id": "call_1_1", "type": "function",
                "function": {"name": "bash", "arguments": ""}}]})
            ),
            delta(
                json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"command\":\"ls\"}"}}]})
            ),
            delta(
                json!({"tool_calls": [{"index": 1, "id": "call_1_2", "type": "function",
                "function": {"name": "read", "arguments": ""}}]})
            ),
            delta(
                json!({"tool_calls": [{"index": 1, "function": {"arguments": "{\"path\":\"a\"}"}}]})
            ),
            chunk(json!([{"index": 0, "delta": {}, "finish_reason": "tool_calls"}])),
            last,
            json!("[DONE]"),
        ]
    );
}

#[test]
fn chat_completions_come_whole() {
    let answer = whole("/v1/chat/completions", rich());
    assert_eq!(
        answer["choices"],
        json!([{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "Hello", "reasoning_content": "Hm",
            "tool_calls": [
                {"id": "call_1_1", "type": "function",
                    "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}},
                {"id": "call_1_2", "type": "function",
                    "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}},
            ],
        }}])
    );
}

#[test]
fn responses_are_streamed() {
    let body = streamed("/v1/responses", rich());
    assert!(body.starts_with("event: response.created\ndata: {"));
    let outline: Vec<String> = frames(&body)
        .iter()
        .enumerate()
        .map(|(number, frame)| {
            assert_eq!(frame["sequence_number"], number);
            let kind = frame["type"].as_str().unwrap();
            let index = &frame["output_index"];
            match &frame["delta"] {
                Value::Null => format!("{kind} {index}"),
                delta => format!("{kind} {index} {delta}"),
            }
        })
        .collect();
    assert_eq!(
        outline,
        [
            "response.created null",
            "response.in_progress null",
            "response.output_item.added 0",
            "response.reasoning_summary_part.added 0",
            "response.reasoning_summary_text.delta 0 \"Hm\"",
            "response.reasoning_summary_text.done 0",
            "response.reasoning_summary_part.done 0",
            "response.output_item.done 0",
            "response.output_item.added 1",
            "response.content_part.added 1",
            "response.output_text.delta 1 \"Hello\"",
            "response.output_text.done 1",
            "response.content_part.done 1",
            "response.output_item.done 1",
            "response.output_item.added 2",
            "response.function_call_arguments.delta 2 \"{\\\"command\\\":\\\"ls\\\"}\"",
            "response.function_call_arguments.done 2",
            "response.output_item.done 2",
            "response.output_item.added 3",
            "response.function_call_arguments.delta 3 \"{\\\"path\\\":\\\"a\\\"}\"",
            "response.function_call_arguments.done 3",
            "response.output_item.done 3",
            "response.completed null",
        ]
    );
}

#[test]
fn responses_come_whole() {
    assert_eq!(
        whole("/v1/responses", rich()),
        json!({
            "id": "resp_1", "object": "response", "created_at": 1_763_000_000, "model": "m",
            "status": "completed", "error": null, "incomplete_details": null,
            "output": [
                {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm"}]},
                {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "Hello", "annotations": []}]},
                {"id": "fc_1_1", "type": "function_call", "status": "completed",
                    "call_id": "call_1_1", "name": "bash", "arguments": "{\"command\":\"ls\"}"},
                {"id": "fc_1_2", "type": "function_call", "status": "completed",
                    "call_id": "call_1_2", "name": "read", "arguments": "{\"path\":\"a\"}"},
            ],
            "usage": {
                "input_tokens": 85, "input_tokens_details": {"cached_tokens": 30},
                "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 4},
                "total_tokens": 105,
            },
        })
    );
}

#[test]
fn anthropic_messages_are_streamed() {
    let body = streamed("/v1/messages", rich());
    assert!(body.starts_with("event: message_start\ndata: {"));
    let usage = |output: u64| {
        json!({
            "input_tokens": 50, "cache_creation_input_tokens": 5,
            "cache_read_input_tokens": 30, "output_tokens": output,
        })
    };
    let start = |index: usize, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: usize, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: usize| json!({"type": "content_block_stop", "index": index});
    assert_eq!(
        frames(&body),
        [
            json!({"type": "message_start", "message": {
                "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
                "stop_reason": null, "stop_sequence": null, "usage": usage(1),
            }}),
            start(
                0,
                json!({"type": "thinking", "thinking": "", "signature": ""})
            ),
            delta(0, json!({"type": "thinking_delta", "thinking": "Hm"})),
            delta(
                0,
                json!({"type": "signature_delta", "signature": "c2lnbmVk"})
            ),
            stop(0),
            start(1, json!({"type": "text", "text": ""})),
            delta(1, json!({"type": "text_delta", "text": "Hello"})),
            stop(1),
            start(
                2,
                json!({"type": "tool_use", "id": "call_1_1", "name": "bash", "input": {}})
            ),
            delta(
                2,
                json!({"type": "input_json_delta", "partial_json": "{\"command\":\"ls\"}"})
            ),
            stop(2),
            start(
                3,
                json!({"type": "tool_use", "id": "call_1_2", "name": "read", "input": {}})
            ),
            delta(
                3,
                json!({"type": "input_json_delta", "partial_json": "{\"path\":\"a\"}"})
            ),
            stop(3),
            json!({"type": "message_delta", "usage": usage(20),
                "delta": {"stop_reason": "tool_use", "stop_sequence": null}}),
            json!({"type": "message_stop"}),
        ]
    );
}

#[test]
fn anthropic_messages_come_whole() {
    let answer = whole("/v1/messages", rich());
    assert_eq!(answer["stop_reason"], "tool_use");
    assert_eq!(
        answer["content"],
        json!([
            {"type": "thinking", "thinking": "Hm", "signature": "c2lnbmVk"},
            {"type": "text", "text": "Hello"},
            {"type": "tool_use", "id": "call_1_1", "name": "bash", "input": {"command": "ls"}},
            {"type": "tool_use", "id": "call_1_2", "name": "read", "input": {"path": "a"}},
        ])
    );
}

#[test]
fn google_answers_are_streamed() {
    let response = |part: Value| {
        json!({
            "candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}],
            "modelVersion": "gemini-x", "responseId": "response-1",
        })
    };
    let call = |id: &str, name: &str, args: Value| {
        response(json!({"functionCall": {"id": id, "name": name, "args": args}}))
    };
    let mut last = call("call_1_2", "read", json!({"path": "a"}));
    last["candidates"][0]["finishReason"] = json!("STOP");
    last["usageMetadata"] = json!({
        "promptTokenCount": 85, "cachedContentTokenCount": 30, "candidatesTokenCount": 16,
        "thoughtsTokenCount": 4, "totalTokenCount": 105,
    });
    let path = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse";
    assert_eq!(
        frames(&streamed(path, rich())),
        [
            response(json!({"text": "Hm", "thought": true})),
            response(json!({"text": "Hello"})),
            call("call_1_1", "bash", json!({"command": "ls"})),
            last,
        ]
    );
}

#[test]
fn a_paced_text_comes_in_pieces() {
    let turn = Turn::text("Grüße!").paced(2, std::time::Duration::from_millis(1));
    let body = streamed("/v1/chat/completions", turn);
    let pieces: Vec<Value> = frames(&body)[1..4]
        .iter()
        .map(|frame| frame["choices"][0]["delta"]["content"].clone())
        .collect();
    assert_eq!(pieces, ["Gr", "üß", "e!"]);
}
