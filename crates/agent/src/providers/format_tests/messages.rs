//! Anthropic's messages.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stream_player::play;

pub(super) const MESSAGES: &str = "anthropic-messages";

pub(super) fn anthropic(blocks: &[Value]) -> Vec<Value> {
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
    let played = play(MESSAGES, "", &[&anthropic(&text)]).await;
    let answer = &played.answers()[0];
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
    let body = &played.server.requests()[0].body;
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
    let played = play(MESSAGES, "--thinking high", &streams).await;
    let content = played.answers()[0]["content"].clone();
    assert_eq!(content[0]["thinkingSignature"], "c2lnbmVk");
    assert_eq!(content[1]["redacted"], true, "in its place");
    let deltas: Vec<&str> = played
        .events
        .iter()
        .filter(|event| event["assistantMessageEvent"]["type"] == "toolcall_delta")
        .filter_map(|event| event["assistantMessageEvent"]["delta"].as_str())
        .collect();
    assert_eq!(
        deltas,
        ["{\"path\":", " \".\"}"],
        "pieces, not the whole again"
    );
    let back = &played.server.requests()[1].body["messages"][1]["content"];
    assert_eq!(
        *back,
        json!([
            {"type": "thinking", "thinking": "First.", "signature": "c2lnbmVk"},
            {"type": "redacted_thinking", "data": "aGlkZGVu"},
            {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {"path": "."}},
        ])
    );
    let result = &played.server.requests()[1].body["messages"][2]["content"][0];
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
    let played = play(MESSAGES, "", &[&frames, &anthropic(&text)]).await;
    let answers = played.answers();
    assert_eq!(
        answers[0]["errorMessage"],
        "Provider returned error: Overloaded"
    );
    assert_eq!(answers[1]["content"][0]["text"], "Done.");
}
