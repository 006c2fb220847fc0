//! Compares the requests that the wire formats send for the same conversation.

use std::collections::BTreeMap;
use std::rc::Rc;

use futures_util::StreamExt;
use pi_subagents_vocabulary::ThinkingLevel;
use serde_json::{Value, json};

use super::testing::{Server, failure};
use super::{ChatProvider, Connections, Provider, Request};
use crate::message::{Message, ToolDeclaration};
use crate::models::{Credential, Model, Wire};

/// Returns a conversation with everything that a format may have to write in its own way.
fn conversation(api: &str) -> Vec<Rc<Message>> {
    let signature = match api {
        "openai-responses" => {
            json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "c2VjcmV0", "summary": []})
                .to_string()
        }
        _ => "c2ln".to_owned(),
    };
    let own = json!({"role": "assistant", "api": api, "provider": "fake", "model": "m", "stopReason": "toolUse"});
    let answer = |content: Value| {
        let mut message = own.clone();
        message["content"] = content;
        message
    };
    let mut foreign = answer(json!([
        {"type": "thinking", "thinking": "Foreign.", "thinkingSignature": "xyz"},
        {"type": "text", "text": "From another model."}]));
    foreign["model"] = json!("other");
    let messages = [
        json!({"role": "user", "content": [{"type": "text", "text": "Look."},
            {"type": "image", "data": "aW1n", "mimeType": "image/png"}]}),
        answer(json!([
            {"type": "thinking", "thinking": "Hm.", "thinkingSignature": signature},
            {"type": "thinking", "thinking": "", "thinkingSignature": "aGlkZGVu", "redacted": true},
            {"type": "text", "text": "Let me see.", "textSignature": "dHM="},
            {"type": "toolCall", "id": "call_1|fc_1", "name": "ls", "arguments": {"path": "."}, "thoughtSignature": "Y3M="},
            {"type": "toolCall", "id": "call#read#0", "name": "read", "arguments": "not json"}])),
        json!({"role": "toolResult", "toolCallId": "call_1|fc_1", "toolName": "ls",
            "content": [{"type": "text", "text": "a.txt"}, {"type": "image", "data": "cGlj", "mimeType": "image/jpeg"}]}),
        json!({"role": "toolResult", "toolCallId": "call#read#0", "toolName": "read", "isError": true,
            "content": [{"type": "text", "text": "no such file"}]}),
        answer(json!([{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}])),
        foreign,
        json!({"role": "compactionSummary", "summary": "Much was said.", "tokensBefore": 7, "timestamp": 1}),
        json!({"role": "bashExecution", "command": "ls", "output": "a.txt"}),
        json!({"role": "user", "content": "Go on."}),
    ];
    let read = |message| Rc::new(serde_json::from_value(message).unwrap());
    messages.into_iter().map(read).collect()
}

fn model(api: &str, id: &str, url: &str) -> Model {
    Model {
        id: id.to_owned(),
        api: api.to_owned(),
        provider: "fake".to_owned(),
        base_url: url.to_owned(),
        reasoning: true,
        max_tokens: None,
        ..Model::scripted("x")
    }
}

/// Returns the body of the request for a conversation.
async fn asked(
    api: &str,
    id: &str,
    thinking: ThinkingLevel,
    whole: bool,
    max_tokens: Option<u64>,
) -> Value {
    let server = Server::start(vec![failure("400 Bad Request", "", "")]).await;
    let model = model(api, id, &server.url);
    let provider = ChatProvider {
        wire: Wire::named(api).unwrap(),
        connections: Connections::open(&server.url, &BTreeMap::new()).unwrap(),
        key: Some(Credential::Key("sk-secret".to_owned())),
        headers: BTreeMap::new(),
        patience: None,
    };
    let tools = [ToolDeclaration {
        name: "ls".to_owned(),
        description: "Lists.".to_owned(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    }];
    let messages = if whole {
        conversation(api)
    } else {
        vec![Rc::new(
            serde_json::from_value(json!({"role": "user", "content": "Hi."})).unwrap(),
        )]
    };
    let request = Request {
        model: &model,
        system: if whole { "Be good." } else { "" },
        messages: &messages,
        tools: if whole { &tools } else { &[] },
        thinking,
        max_tokens,
    };
    let _ = provider.stream(request).collect::<Vec<_>>().await;
    server.requests()[0].body.clone()
}

#[tokio::test]
async fn a_conversation_is_said_in_four_ways() {
    let high = ThinkingLevel::High;
    for (name, api) in [
        ("completions", "openai-completions"),
        ("responses", "openai-responses"),
        ("messages", "anthropic-messages"),
        ("google", "google-generative-ai"),
    ] {
        let body = asked(api, "m", high, true, Some(500)).await;
        insta::assert_snapshot!(name, serde_json::to_string_pretty(&body).unwrap());
    }
}

/// Returns the settings of a request, without the conversation, for each thinking level.
async fn settings(api: &str, id: &str) -> String {
    let mut lines = String::new();
    for level in ThinkingLevel::ALL {
        let mut body = asked(api, id, level, false, None).await;
        let body = body.as_object_mut().unwrap();
        body.retain(|field, _| {
            let same = [
                "messages",
                "contents",
                "input",
                "model",
                "stream",
                "store",
                "stream_options",
            ];
            !same.contains(&field.as_str())
        });
        let body = serde_json::to_string(&body).unwrap();
        lines.extend([id, " ", level.as_str(), " ", &body, "\n"]);
    }
    lines
}

#[tokio::test]
async fn how_hard_to_think_is_said_as_each_model_takes_it() {
    let mut said = String::new();
    for (api, ids) in [
        ("openai-completions", &["gpt-5", "gpt-4o"][..]),
        ("openai-responses", &["gpt-5"]),
        (
            "anthropic-messages",
            &[
                "claude-opus-5",
                "claude-opus-4-8",
                "claude-opus-4-6",
                "claude-opus-4-5",
                "claude-opus-4-20250514",
                "claude-sonnet-5",
                "claude-sonnet-4-6",
                "claude-sonnet-4-5",
                "claude-haiku-5",
                "claude-haiku-4-5",
                "claude-3-7-sonnet-latest",
                "claude-3-5-sonnet",
                "claude-3-opus-1",
                "claude-fable-1",
                "anthropic.claude-opus-4-7-v1",
                "glm-4.6",
            ],
        ),
        (
            "google-generative-ai",
            &["gemini-2.5-pro", "gemini-3-pro", "gemma-4-1"],
        ),
    ] {
        for id in ids {
            said.push_str(&settings(api, id).await);
        }
    }
    insta::assert_snapshot!("thinking", said);
}
