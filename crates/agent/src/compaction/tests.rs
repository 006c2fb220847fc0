//! Shortened conversations, on the scripted model.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::CompactionError;
use crate::testing::{Bench, Sandbox, outline};

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

/// Returns an agent that shortens early.
fn bench(sandbox: &Sandbox, flags: &str) -> Bench {
    sandbox.write("agent/settings.json", SETTINGS);
    let flags = format!("{} {flags}", sandbox.script(&script()));
    sandbox.agent(&flags).unwrap()
}

#[tokio::test]
async fn an_overflow_is_answered_after_the_conversation_was_shortened() {
    let sandbox = Sandbox::new();
    let file = sandbox.path("s.jsonl");
    let session = format!("--session {}", file.display());
    let mut bench = bench(&sandbox, &format!("--tools read {session}"));
    bench.prompt("hi").await;
    let events = bench.prompt("overflow, please").await;
    insta::assert_snapshot!(outline(&events), @r#"
    agent_start
    turn_start
    message role="user" "overflow, please"
    message role="assistant" stopReason="error" errorMessage="400: prompt is too long: 300000 tokens > 200000 maximum"
    turn_end
    agent_end willRetry=false
    entry_appended type="context_edit"
    compaction_start
    compaction_end willRetry=true summary="They greeted each other." tokensBefore=157
    agent_start
    turn_start
    streamed role="assistant" stopReason="stop" "Now it fits."
    turn_end
    agent_end willRetry=false
    agent_settled
    "#);
    let shown = ["system", "compactionSummary", "user", "assistant"];
    assert_eq!(bench.roles(), shown);
    drop(bench);

    let resumed = sandbox.agent(&session).unwrap();
    assert_eq!(resumed.roles(), shown);
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
    let mut bench = bench(&sandbox, "--no-session");
    bench.prompt("hi").await;
    let events = bench.prompt("never").await;
    insta::assert_snapshot!(outline(&events), @r#"
    agent_start
    turn_start
    message role="user" "never"
    message role="assistant" stopReason="error" errorMessage="400: context_length_exceeded"
    turn_end
    agent_end willRetry=false
    entry_appended type="context_edit"
    compaction_start
    compaction_end willRetry=true summary="They greeted each other." tokensBefore=300
    agent_start
    turn_start
    message role="assistant" stopReason="error" errorMessage="400: context_length_exceeded"
    turn_end
    agent_end willRetry=false
    compaction_end willRetry=false errorMessage="Context overflow recovery failed: the conversation does not fit, not even shortened. Give the task in smaller parts, or use a model with a larger context."
    agent_settled
    "#);
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
    // The prompt alone fills a third of the window, so it stays.
    assert!(!outline(&events).contains("compaction"));
    let events = bench.prompt(&format!("{long} hi again")).await;
    let outline = outline(&events);
    let (_, end) = outline.split_once("agent_end").unwrap();
    insta::assert_snapshot!(end, @r#"
     willRetry=false
    compaction_start
    compaction_end willRetry=false summary="They greeted each other." tokensBefore=140309
    agent_settled
    "#);
}

#[tokio::test]
async fn a_command_shortens_once_there_is_something_to_shorten() {
    let sandbox = Sandbox::new();
    let mut bench = bench(&sandbox, "--no-session");
    let aborted = bench.agent.begin_run();
    let nothing = bench.agent.compact_on_command(None, &aborted).await;
    assert!(matches!(nothing, Err(CompactionError::TooSmall)));
    bench.agent.end_run();
    bench.prompt("hi").await;
    let aborted = bench.agent.begin_run();
    let result = bench.agent.compact_on_command(Some("names"), &aborted);
    let result = result.await.unwrap();
    assert_eq!(result["summary"], "They greeted each other.");
    let again = bench.agent.compact_on_command(None, &aborted).await;
    assert!(matches!(again, Err(CompactionError::JustCompacted)));
}
