//! Names of models, in every format.

use serde_json::{Value, json};

use super::google::{GOOGLE, google};
use super::messages::{MESSAGES, anthropic};
use super::responses::{RESPONSES, text_events};
use super::stream_player::{bench, named};
use crate::providers::testing::Server;
use crate::testing::Sandbox;

/// Returns the first line of a request, and its fields about the model and thinking.
async fn asked(api: &str, frames: &[Value]) -> String {
    let sandbox = Sandbox::new();
    let server = Server::start(vec![named(frames)]).await;
    let mut bench = bench(&sandbox, &server, api, "");
    let switched = bench.access.switch(&bench.agent, "fake", "qwen-max").await;
    switched.unwrap();
    bench.prompt("Hi.").await;
    let request = &server.requests()[0];
    let line = request.head.lines().next().unwrap();
    let (model, thinking) = (&request.body["model"], &request.body["thinking"]);
    format!("{line} model={model} thinking={thinking}")
}

#[tokio::test]
async fn names_of_models_are_sent_as_they_are() {
    let hello = google(&json!([{"text": "Hi."}]), Some("STOP"));
    let requests = [
        asked(RESPONSES, &text_events("Hi.")).await,
        asked(MESSAGES, &anthropic(&[])).await,
        asked(GOOGLE, &[hello]).await,
    ];
    insta::assert_snapshot!(requests.join("\n"), @r#"
    POST /v1/responses HTTP/1.1 model="qwen-max" thinking=null
    POST /v1/messages HTTP/1.1 model="qwen-max" thinking=null
    POST /v1/models/qwen-max:streamGenerateContent?alt=sse HTTP/1.1 model=null thinking=null
    "#);
}
