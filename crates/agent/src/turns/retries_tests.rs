//! Tests how a failed call of the model is retried or reported.

use serde_json::json;

use crate::testing::{Sandbox, outline, script};

#[tokio::test(start_paused = true)]
async fn a_failed_call_is_tried_again_as_the_server_asks() {
    let sandbox = Sandbox::new();
    let script = script(&json!([
        {"error": "slow down", "status": 429, "retryAfter": 7},
        {"error": "overloaded", "status": 503},
        {"text": "There you are."},
    ]));
    let mut bench = sandbox.playing(&script);
    let events = bench.prompt("Go").await;
    insta::assert_snapshot!(outline(&events), @r#"
    agent_start
    turn_start
    message role="system"
    message role="user" "Go"
    message role="assistant" stopReason="error" errorMessage="429: slow down"
    turn_end
    agent_end willRetry=true
    auto_retry_start attempt=1 delayMs=7000 errorMessage="429: slow down"
    entry_appended type="context_edit"
    agent_start
    turn_start
    message role="assistant" stopReason="error" errorMessage="503: overloaded"
    turn_end
    agent_end willRetry=true
    auto_retry_start attempt=2 delayMs=4000 errorMessage="503: overloaded"
    entry_appended type="context_edit"
    agent_start
    turn_start
    streamed role="assistant" stopReason="stop" "There you are."
    auto_retry_end attempt=2 success=true
    turn_end
    agent_end willRetry=false
    agent_settled
    "#);
}

#[tokio::test(start_paused = true)]
async fn retries_end_when_they_are_used_up_and_do_not_begin_when_useless() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "agent/settings.json",
        r#"{"retry": {"maxRetries": 1, "baseDelayMs": 5}}"#,
    );
    let script = json!({"rules": [
        {"when": "again", "turns": [{"error": "down", "status": 500}, {"error": "down", "status": 500}]},
        {"when": "/^never$/", "turns": [{"error": "no such model", "status": 404}]},
    ]});
    let mut bench = sandbox.playing(&script);
    let again = outline(&bench.prompt("try again").await);
    let never = outline(&bench.prompt("never").await);
    insta::assert_snapshot!(format!("{again}\n\n{never}"), @r#"
    agent_start
    turn_start
    message role="system"
    message role="user" "try again"
    message role="assistant" stopReason="error" errorMessage="500: down"
    turn_end
    agent_end willRetry=true
    auto_retry_start attempt=1 delayMs=5 errorMessage="500: down"
    entry_appended type="context_edit"
    agent_start
    turn_start
    message role="assistant" stopReason="error" errorMessage="500: down"
    turn_end
    agent_end willRetry=false
    auto_retry_end attempt=1 success=false finalError="500: down"
    agent_settled

    agent_start
    turn_start
    message role="user" "never"
    message role="assistant" stopReason="error" errorMessage="404: no such model"
    turn_end
    agent_end willRetry=false
    agent_settled
    "#);
}

#[tokio::test(start_paused = true)]
async fn an_abort_ends_the_wait_for_the_model_and_for_a_retry() {
    let sandbox = Sandbox::new();
    let script = json!({"rules": [
        {"when": "wait", "turns": [{"delayMs": 3_600_000, "text": "late"}]},
        {"when": "retry", "turns": [{"error": "busy", "status": 503, "retryAfter": 30}]},
    ]});
    let mut bench = sandbox.playing(&script);
    let waiting = bench
        .watch("wait", |agent, event| {
            if event["type"] == "message_end" && event["message"]["role"] == "user" {
                agent.abort();
            }
        })
        .await;
    let retrying = bench
        .watch("retry", |agent, event| {
            if event["type"] == "auto_retry_start" {
                agent.abort();
            }
        })
        .await;
    insta::assert_snapshot!(format!("{}\n\n{}", outline(&waiting), outline(&retrying)), @r#"
    agent_start
    turn_start
    message role="system"
    message role="user" "wait"
    message role="assistant" stopReason="aborted" errorMessage="Request aborted"
    turn_end
    agent_end willRetry=false
    agent_settled

    agent_start
    turn_start
    message role="user" "retry"
    message role="assistant" stopReason="error" errorMessage="503: busy (the server asks to wait 30 s)"
    turn_end
    agent_end willRetry=true
    auto_retry_start attempt=1 delayMs=30000 errorMessage="503: busy (the server asks to wait 30 s)"
    entry_appended type="context_edit"
    auto_retry_end attempt=1 success=false finalError="Retry cancelled"
    agent_settled
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_more_patience_than_we_have_is_not_asked_again() {
    let sandbox = Sandbox::new();
    let script = script(&json!([
        {"error": "Quota exceeded", "status": 429, "retryAfter": 3600},
        {"text": "There you are."},
    ]));
    let mut bench = sandbox.playing(&script);
    let events = bench.prompt("Go").await;
    insta::assert_snapshot!(outline(&events), @r#"
    agent_start
    turn_start
    message role="system"
    message role="user" "Go"
    message role="assistant" stopReason="error" errorMessage="429: Quota exceeded (the server asks to wait 3600 s)"
    turn_end
    agent_end willRetry=false
    agent_settled
    "#);
}
