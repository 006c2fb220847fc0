//! Google's generated content.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stream_player::play;

pub(super) const GOOGLE: &str = "google-generative-ai";

pub(super) fn google(parts: &Value, finish: Option<&str>) -> Value {
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
    let played = play(GOOGLE, "", &[&two, &again, &done]).await;
    let answers = played.answers();
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
    let last = played.server.requests()[2].body["contents"].clone();
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
    let played = play(GOOGLE, "", &[&cut, &whole]).await;
    let answers = played.answers();
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
    let played = play(GOOGLE, "", &[&first, &done]).await;
    let answers = played.answers();
    assert_eq!(answers[0]["stopReason"], "toolUse");
    assert_eq!(answers[1]["content"][0]["text"], "Done.");
}

#[tokio::test]
async fn a_call_that_google_could_not_write_is_an_error() {
    let frames = [google(
        &json!([{"text": "I"}]),
        Some("MALFORMED_FUNCTION_CALL"),
    )];
    let played = play(GOOGLE, "", &[&frames]).await;
    assert_eq!(
        played.answers()[0]["errorMessage"],
        "Provider finish_reason: MALFORMED_FUNCTION_CALL"
    );
}
