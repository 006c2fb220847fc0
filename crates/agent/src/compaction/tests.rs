//! Shortened conversations, on the scripted model.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::testing::{Sandbox, outline};

const SETTINGS: &str = r#"{"compaction": {"keepRecentTokens": 4, "reserveTokens": 1000}}"#;

/// Answers, fails once for want of room, and summarizes when it is asked to.
fn script() -> Value {
    json!({"rules": [
        {"when": "<conversation>", "turns": [{"text": "They greeted each other."}]},
        {"when": "overflow", "turns": [
            {"error": "prompt is too long: 300000 tokens > 200000 maximum", "status": 400},
            {"text": "Now it fits."}
        ]},
        {"when": "never", "turns": [
            {"error": "context_length_exceeded", "status": 400},
            {"error": "context_length_exceeded", "status": 400},
            {"error": "context_length_exceeded", "status": 400}
        ]},
        {"turns": [{"text": "Hello, how can I help you today?"}]},
    ]})
}

fn with_compactions(events: &[Value]) -> String {
    let shown: Vec<Value> = events
        .iter()
        .map(|event| {
            let mut event = event.clone();
            for place in ["summary", "tokensBefore"] {
                if let Some(value) = event["result"].get(place).cloned() {
                    let told = format!("{} {place}={value}", event["type"].as_str().unwrap());
                    event["type"] = json!(told);
                }
            }
            event
        })
        .collect();
    outline(&shown)
}

#[tokio::test]
async fn an_overflow_is_answered_after_the_conversation_was_shortened() {
    let sandbox = Sandbox::new();
    sandbox.write("agent/settings.json", SETTINGS);
    let file = sandbox.path("s.jsonl");
    let flags = format!(
        "{} --tools read --session {}",
        sandbox.script(&script()),
        file.display()
    );
    let mut bench = sandbox.agent(&flags).unwrap();
    bench.prompt("hi").await;
    let events = bench.prompt("overflow, please").await;
    insta::assert_snapshot!(with_compactions(&events), @r#"
    agent_start
    turn_start
    message role="user" "overflow, please"
    message role="assistant" stopReason="error" errorMessage="400: prompt is too long: 300000 tokens > 200000 maximum"
    turn_end role="assistant" stopReason="error" errorMessage="400: prompt is too long: 300000 tokens > 200000 maximum"
    agent_end willRetry=false
    entry_appended type="context_edit"
    compaction_start
    compaction_end summary="They greeted each other." tokensBefore=157 willRetry=true
    agent_start
    turn_start
    message_start role="assistant" stopReason="pending"
    message_end role="assistant" stopReason="stop" "Now it fits."
    turn_end role="assistant" stopReason="stop"
    agent_end willRetry=false
    agent_settled
    "#);
    let shown: Vec<Value> = bench
        .agent
        .conversation
        .borrow()
        .messages()
        .iter()
        .map(|message| json!(message.as_ref())["role"].clone())
        .collect();
    assert_eq!(shown, ["system", "compactionSummary", "user", "assistant"]);
    let stats = bench.agent.conversation.borrow().tally().clone();
    assert_eq!((stats.users, stats.assistants), (2, 3));
    drop(bench);

    let again = sandbox
        .agent(&format!("--session {}", file.display()))
        .unwrap();
    let resumed = again.agent.conversation.borrow();
    let roles: Vec<Value> = resumed
        .messages()
        .iter()
        .map(|message| json!(message.as_ref())["role"].clone())
        .collect();
    assert_eq!(roles, shown);
    assert_eq!(resumed.tally().assistants, stats.assistants);
    let entry = fs::read_to_string(&file).unwrap();
    let entry = entry.lines().find(|line| line.contains("\"compaction\""));
    let entry: Value = serde_json::from_str(entry.unwrap()).unwrap();
    assert_eq!(entry["summary"], "They greeted each other.");
    assert_eq!(entry["systemMessage"]["role"], "system");
    assert!(entry["firstKeptEntryId"].is_string());
}

#[tokio::test]
async fn what_never_fits_ends_as_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("agent/settings.json", SETTINGS);
    let mut bench = sandbox
        .agent(&format!("{} --no-session", sandbox.script(&script())))
        .unwrap();
    bench.prompt("hi").await;
    let events = bench.prompt("never").await;
    let last = |kind: &str| {
        let mut found = events.iter().rev().filter(|event| event["type"] == kind);
        found.next().cloned().unwrap()
    };
    assert_eq!(
        last("turn_end")["message"]["errorMessage"],
        "400: context_length_exceeded"
    );
    assert_eq!(last("compaction_end")["willRetry"], false);
    assert!(
        last("compaction_end")["errorMessage"]
            .as_str()
            .unwrap()
            .starts_with("Context overflow recovery failed: "),
    );
    assert_eq!(events.last().unwrap()["type"], "agent_settled");
}

#[tokio::test]
async fn a_long_conversation_is_shortened_after_the_answer() {
    let sandbox = Sandbox::new();
    let settings = json!({"compaction": {"keepRecentTokens": 20, "reserveTokens": 199_900}});
    sandbox.write("agent/settings.json", settings.to_string());
    let flags = format!("{} --no-session", sandbox.script(&script()));
    let mut bench = sandbox.agent(&flags).unwrap();
    let long = "a word ".repeat(40_000);
    let events = bench.prompt(&format!("{long} hi")).await;
    // The prompt alone fills a third of the window, so it is what stays.
    assert!(!outline(&events).contains("compaction"));
    let events = bench.prompt(&format!("{long} hi again")).await;
    let outline = with_compactions(&events);
    let (_, end) = outline.split_once("agent_end").unwrap();
    insta::assert_snapshot!(end, @r#"
     willRetry=false
    compaction_start
    compaction_end summary="They greeted each other." tokensBefore=140309 willRetry=false
    agent_settled
    "#);
}

#[tokio::test]
async fn a_command_shortens_too() {
    let sandbox = Sandbox::new();
    sandbox.write("agent/settings.json", SETTINGS);
    let flags = format!("{} --no-session", sandbox.script(&script()));
    let mut bench = sandbox.agent(&flags).unwrap();
    let aborted = bench.agent.begin_run();
    let nothing = bench.agent.compact_on_command(None, &aborted).await;
    assert_eq!(
        nothing,
        Err("Nothing to compact (session too small)".to_owned())
    );
    bench.agent.end_run();
    bench.prompt("hi").await;
    let aborted = bench.agent.begin_run();
    let result = bench.agent.compact_on_command(Some("names"), &aborted);
    let result = result.await.unwrap();
    assert_eq!(result["summary"], "They greeted each other.");
    let again = bench.agent.compact_on_command(None, &aborted).await;
    assert_eq!(again, Err("Already compacted".to_owned()));
}
