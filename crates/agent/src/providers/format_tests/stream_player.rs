//! One prompt, answered by a server that plays given streams.

use serde_json::{Value, json};

use crate::providers::testing::{Server, events};
use crate::testing::{Bench, Sandbox, messages_of};

/// The events of a prompt, and the server that answered it.
pub(super) struct Played {
    pub(super) events: Vec<Value>,
    pub(super) server: Server,
}

impl Played {
    /// Returns the answers of the model, also the failed ones.
    pub(super) fn answers(&self) -> Vec<&Value> {
        messages_of("assistant", &self.events)
    }
}

/// Plays the streams one after the other to answer one prompt.
pub(super) async fn play(api: &str, flags: &str, streams: &[&[Value]]) -> Played {
    let sandbox = Sandbox::new();
    let answers = streams.iter().map(|frames| named(frames)).collect();
    let server = Server::start(answers).await;
    let events = bench(&sandbox, &server, api, flags).prompt("Go.").await;
    Played { events, server }
}

/// Returns an agent that asks `server`.
pub(super) fn bench(sandbox: &Sandbox, server: &Server, api: &str, flags: &str) -> Bench {
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

/// Frames with the event names that Anthropic's format needs.
pub(super) fn named(frames: &[Value]) -> String {
    let mut text = events(&[]);
    for frame in frames {
        if let Some(name) = frame["type"].as_str() {
            text.extend(["event: ", name, "\n"]);
        }
        text.extend(["data: ", &frame.to_string(), "\n\n"]);
    }
    text
}
