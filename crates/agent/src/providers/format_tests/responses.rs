//! OpenAI's responses.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stream_player::play;

pub(super) const RESPONSES: &str = "openai-responses";

fn completed(output: &Value) -> Value {
    json!({"type": "response.completed", "response": {
        "id": "resp_1", "status": "completed", "model": "m", "output": output,
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}})
}

fn call_item(arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "ls", "arguments": arguments})
}

pub(super) fn text_events(text: &str) -> Vec<Value> {
    vec![
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}),
        completed(&json!([])),
    ]
}

#[tokio::test]
async fn an_end_without_model_and_usage_loses_no_calls() {
    let mut bare = completed(&json!([call_item("{}")]));
    let response = bare["response"].as_object_mut().unwrap();
    response.remove("model");
    response.remove("usage");
    let played = play(RESPONSES, "", &[&[bare], &text_events("Done.")]).await;
    let answers = played.answers();
    assert_eq!(answers[0]["content"][0]["id"], "call_1");
    assert_eq!(answers[0]["usage"]["totalTokens"], 0);
    assert_eq!(answers[1]["content"][0]["text"], "Done.");
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
        let played = play(RESPONSES, "", &[&frames, &text_events("Done.")]).await;
        let answer = &played.answers()[0];
        assert_eq!(
            answer["content"],
            json!([{"type": "toolCall", "id": "call_1", "name": "ls", "arguments": {"path": ".."}}])
        );
        assert_eq!(answer["stopReason"], "toolUse", "the calls decide");
        assert_eq!(answer["rawStopReason"], "completed");
        assert_eq!(played.server.requests().len(), 2);
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
    let played = play(RESPONSES, "", &[&frames, &text_events("Done.")]).await;
    let answers = played.answers();
    assert_eq!(answers[0]["errorMessage"], "server_error: It broke.");
    assert_eq!(answers[1]["content"][0]["text"], "Done.", "it was retried");
    let frames = [failed("invalid_prompt")];
    let played = play(RESPONSES, "", &[&frames]).await;
    assert_eq!(
        played.answers()[0]["errorMessage"],
        "invalid_prompt: It broke."
    );
    assert_eq!(played.server.requests().len(), 1);
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
    let played = play(
        RESPONSES,
        "--thinking low",
        &[&first, &text_events("Done.")],
    )
    .await;
    let thought = &played.answers()[0]["content"][0];
    assert_eq!(thought["thinking"], "Hm.");
    let kept: Value = serde_json::from_str(thought["thinkingSignature"].as_str().unwrap()).unwrap();
    assert_eq!(kept, reasoning, "the whole item, as pi keeps it");
    let requests = played.server.requests();
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
