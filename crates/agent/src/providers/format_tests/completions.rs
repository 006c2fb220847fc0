//! Chat completions, where a server is sloppy.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stream_player::play;

const COMPLETIONS: &str = "openai-completions";

#[tokio::test]
async fn a_completion_without_the_last_mark_is_complete() {
    let chunk = |delta: Value, finish: Option<&str>| json!({"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let frames = [
        chunk(json!({"content": "Hi."}), None),
        chunk(json!({}), Some("stop")),
        json!({"id": "c1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
    ];
    let played = play(COMPLETIONS, "", &[&frames]).await;
    let answer = &played.answers()[0];
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
    let played = play(COMPLETIONS, "", &streams).await;
    let answers = played.answers();
    assert_ne!(
        answers[0]["content"][0]["id"],
        answers[1]["content"][0]["id"]
    );
    let sent = &played.server.requests()[2].body["messages"];
    assert_eq!(sent[4]["tool_calls"][0]["id"], sent[5]["tool_call_id"]);
}
