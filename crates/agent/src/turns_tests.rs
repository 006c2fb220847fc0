//! Runs of the agent on scripts, judged by their events.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::testing::{Sandbox, outline};

fn script(turns: &Value) -> Value {
    json!({"rules": [{"turns": turns}]})
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

#[tokio::test]
async fn a_prompt_with_a_tool_call_gives_the_events_of_pi() {
    let sandbox = Sandbox::new();
    sandbox.write("project/a.txt", "hello\n");
    let script = script(&json!([
        {"text": "Reading.", "toolCalls": [call("read", &json!({"path": "a.txt"}))]},
        {"text": "It says {{lastToolResult.first}}."},
    ]));
    let mut bench = sandbox.playing(&script);
    let events = bench.prompt("Look!").await;
    insta::assert_snapshot!(outline(&events), @r#"
    agent_start
    turn_start
    message role="system"
    message role="user" "Look!"
    message_start role="assistant" stopReason="pending"
    message_end role="assistant" stopReason="toolUse" "Reading."
    tool_execution_start toolCallId="call_1_1_1"
    tool_execution_end toolCallId="call_1_1_1" isError=false "hello\n"
    message role="toolResult" toolCallId="call_1_1_1" isError=false "hello\n"
    turn_end role="assistant" stopReason="toolUse"
    turn_start
    message_start role="assistant" stopReason="pending"
    message_end role="assistant" stopReason="stop" "It says hello."
    turn_end role="assistant" stopReason="stop"
    agent_end willRetry=false
    agent_settled
    "#);
    let pieces: Vec<String> = events
        .iter()
        .filter(|event| event["type"] == "message_update")
        .map(|event| event["assistantMessageEvent"].to_string())
        .take(6)
        .collect();
    insta::assert_snapshot!(pieces.join("\n"), @r#"
    {"type":"text_start","contentIndex":0}
    {"type":"text_delta","contentIndex":0,"delta":"Reading."}
    {"type":"text_end","contentIndex":0,"content":"Reading."}
    {"type":"toolcall_start","contentIndex":1,"id":"call_1_1_1","toolName":"read"}
    {"type":"toolcall_delta","contentIndex":1,"delta":"{\"path\":\"a.txt\"}"}
    {"type":"toolcall_end","contentIndex":1,"toolCall":{"type":"toolCall","id":"call_1_1_1","name":"read","arguments":{"path":"a.txt"}}}
    "#);
}

#[tokio::test]
async fn calls_of_one_message_run_at_once_and_answer_in_order() {
    let sandbox = Sandbox::new();
    // Each waits for the other's file, so neither could finish alone; the second ends first.
    let first =
        "touch one; while [ ! -e two ]; do :; done; while [ ! -e over ]; do :; done; echo first";
    let second = "touch two; while [ ! -e one ]; do :; done; echo second";
    let script = script(&json!([
        {"toolCalls": [
            call("bash", &json!({"command": first, "timeout": 20})),
            call("bash", &json!({"command": second, "timeout": 20})),
        ]},
        {"text": "Both."},
    ]));
    let mut bench = sandbox.playing(&script);
    let over = sandbox.path("project/over");
    let events = bench
        .watch("Go", |_, event| {
            if event["type"] == "tool_execution_end" {
                std::fs::write(&over, "").unwrap();
            }
        })
        .await;
    let without_updates: Vec<Value> = events
        .into_iter()
        .filter(|event| event["type"] != "tool_execution_update")
        .collect();
    insta::assert_snapshot!(outline(&without_updates), @r#"
    agent_start
    turn_start
    message role="system"
    message role="user" "Go"
    message_start role="assistant" stopReason="pending"
    message_end role="assistant" stopReason="toolUse"
    tool_execution_start toolCallId="call_1_1_1"
    tool_execution_start toolCallId="call_1_1_2"
    tool_execution_end toolCallId="call_1_1_2" isError=false "second\n"
    tool_execution_end toolCallId="call_1_1_1" isError=false "first\n"
    message role="toolResult" toolCallId="call_1_1_1" isError=false "first\n"
    message role="toolResult" toolCallId="call_1_1_2" isError=false "second\n"
    turn_end role="assistant" stopReason="toolUse"
    turn_start
    message_start role="assistant" stopReason="pending"
    message_end role="assistant" stopReason="stop" "Both."
    turn_end role="assistant" stopReason="stop"
    agent_end willRetry=false
    agent_settled
    "#);
}

#[tokio::test]
async fn a_call_that_makes_no_sense_is_an_error_result() {
    let sandbox = Sandbox::new();
    let script = script(&json!([
        {"toolCalls": [call("fly", &json!({})), call("read", &json!("a")), call("ls", &json!({}))]},
        {"text": "Sorry."},
    ]));
    let mut bench = sandbox.playing(&script);
    let events = bench.prompt("Go").await;
    let results: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "message_end" && event["message"]["role"] == "toolResult")
        .map(|event| &event["message"]["content"][0]["text"])
        .collect();
    assert_eq!(
        results,
        [
            &json!("Tool fly not found"),
            &json!(
                "Validation failed for tool \"read\":\n  - root: must be object\n\nReceived arguments:\n\"a\""
            ),
            &json!("Tool ls not found"),
        ]
    );
}

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
    turn_end role="assistant" stopReason="error" errorMessage="429: slow down"
    agent_end willRetry=true
    auto_retry_start attempt=1 delayMs=7000 errorMessage="429: slow down"
    entry_appended type="context_edit"
    agent_start
    turn_start
    message role="assistant" stopReason="error" errorMessage="503: overloaded"
    turn_end role="assistant" stopReason="error" errorMessage="503: overloaded"
    agent_end willRetry=true
    auto_retry_start attempt=2 delayMs=4000 errorMessage="503: overloaded"
    entry_appended type="context_edit"
    agent_start
    turn_start
    message_start role="assistant" stopReason="pending"
    message_end role="assistant" stopReason="stop" "There you are."
    auto_retry_end attempt=2 success=true
    turn_end role="assistant" stopReason="stop"
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
    turn_end role="assistant" stopReason="error" errorMessage="500: down"
    agent_end willRetry=true
    auto_retry_start attempt=1 delayMs=5 errorMessage="500: down"
    entry_appended type="context_edit"
    agent_start
    turn_start
    message role="assistant" stopReason="error" errorMessage="500: down"
    turn_end role="assistant" stopReason="error" errorMessage="500: down"
    agent_end willRetry=false
    auto_retry_end attempt=1 success=false finalError="500: down"
    agent_settled

    agent_start
    turn_start
    message role="user" "never"
    message role="assistant" stopReason="error" errorMessage="404: no such model"
    turn_end role="assistant" stopReason="error" errorMessage="404: no such model"
    agent_end willRetry=false
    agent_settled
    "#);
}

#[tokio::test(start_paused = true)]
async fn an_abort_ends_the_wait_for_the_model_and_for_a_retry() {
    let sandbox = Sandbox::new();
    let script = json!({"rules": [
        {"when": "wait", "turns": [{"delayMs": 3_600_000, "text": "late"}]},
        {"when": "retry", "turns": [{"error": "busy", "status": 503, "retryAfter": 3000}]},
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
    turn_end role="assistant" stopReason="aborted" errorMessage="Request aborted"
    agent_end willRetry=false
    agent_settled

    agent_start
    turn_start
    message role="user" "retry"
    message role="assistant" stopReason="error" errorMessage="503: busy"
    turn_end role="assistant" stopReason="error" errorMessage="503: busy"
    agent_end willRetry=true
    auto_retry_start attempt=1 delayMs=60000 errorMessage="503: busy"
    entry_appended type="context_edit"
    auto_retry_end attempt=1 success=false finalError="Retry cancelled"
    agent_settled
    "#);
}

#[tokio::test]
async fn an_abort_ends_a_tool_and_the_run() {
    let sandbox = Sandbox::new();
    let script = script(&json!([
        {"toolCalls": [call("bash", &json!({"command": "echo on; sleep 600"}))]},
        {"text": "never said"},
    ]));
    let mut bench = sandbox.playing(&script);
    let events = bench
        .watch("Go", |agent, event| {
            if event["partialResult"]["content"][0]["text"] == "on\n" {
                agent.abort();
            }
        })
        .await;
    insta::assert_snapshot!(outline(&events), @r#"
    agent_start
    turn_start
    message role="system"
    message role="user" "Go"
    message_start role="assistant" stopReason="pending"
    message_end role="assistant" stopReason="toolUse"
    tool_execution_start toolCallId="call_1_1_1"
    tool_execution_update toolCallId="call_1_1_1"
    tool_execution_update toolCallId="call_1_1_1"
    tool_execution_end toolCallId="call_1_1_1" isError=true "on\n\n\nCommand aborted"
    message role="toolResult" toolCallId="call_1_1_1" isError=true "on\n\n\nCommand aborted"
    turn_end role="assistant" stopReason="toolUse"
    turn_start
    message role="assistant" stopReason="aborted" errorMessage="Request aborted"
    turn_end role="assistant" stopReason="aborted" errorMessage="Request aborted"
    agent_end willRetry=false
    agent_settled
    "#);
}

#[tokio::test]
async fn steering_comes_between_turns_and_a_follow_up_at_the_end() {
    let sandbox = Sandbox::new();
    let wait = "while [ ! -e said ]; do :; done";
    let said = sandbox.path("project/said");
    let script = json!({"rules": [
        {"when": "steered", "turns": [{"text": "Steered."}]},
        {"when": "more", "turns": [{"text": "More."}]},
        {"turns": [{"toolCalls": [call("bash", &json!({"command": wait}))]}, {"text": "Not reached."}]},
    ]});
    let mut bench = sandbox.playing(&script);
    let events = bench
        .watch("Go", |agent, event| {
            if event["type"] == "tool_execution_start" {
                let mut queue = agent.queue.borrow_mut();
                queue.steering.push("be steered".to_owned());
                queue.follow_up.push("and more".to_owned());
                std::fs::write(&said, "").unwrap();
            }
        })
        .await;
    insta::assert_snapshot!(outline(&events), @r#"
    agent_start
    turn_start
    message role="system"
    message role="user" "Go"
    message_start role="assistant" stopReason="pending"
    message_end role="assistant" stopReason="toolUse"
    tool_execution_start toolCallId="call_1_1_1"
    tool_execution_update toolCallId="call_1_1_1"
    tool_execution_end toolCallId="call_1_1_1" isError=false "(no output)"
    message role="toolResult" toolCallId="call_1_1_1" isError=false "(no output)"
    turn_end role="assistant" stopReason="toolUse"
    queue_update steering=[] followUp=["and more"]
    turn_start
    message role="user" "be steered"
    message_start role="assistant" stopReason="pending"
    message_end role="assistant" stopReason="stop" "Steered."
    turn_end role="assistant" stopReason="stop"
    queue_update steering=[] followUp=[]
    turn_start
    message role="user" "and more"
    message_start role="assistant" stopReason="pending"
    message_end role="assistant" stopReason="stop" "More."
    turn_end role="assistant" stopReason="stop"
    agent_end willRetry=false
    agent_settled
    "#);
}

#[tokio::test]
async fn a_finalized_run_asks_the_model_no_more() {
    let sandbox = Sandbox::new();
    let report = json!({"status": "SUCCESS", "result": "42"});
    let script = script(&json!([
        {"toolCalls": [call("subagent_finalize", &report)]},
        {"text": "never said"},
    ]));
    let flags = format!("{} --finalize --no-tools", sandbox.script(&script));
    let mut bench = sandbox.agent(&flags).unwrap();
    let events = bench.prompt("Go").await;
    let end = events
        .iter()
        .find(|event| event["type"] == "tool_execution_end")
        .unwrap();
    assert_eq!(
        end["result"],
        json!({"content": [{"type": "text", "text": "finalized"}], "details": report, "terminate": true})
    );
    let last = &events[events.len() - 3];
    assert_eq!(
        (&last["type"], &last["message"]["stopReason"]),
        (&json!("turn_end"), &json!("toolUse"))
    );
}

#[tokio::test]
async fn the_tour_works_in_an_empty_directory_and_in_a_full_one() {
    let sandbox = Sandbox::new();
    let flags = "--model scripted/tour --tools read,bash,ls,grep,find";
    let prompts = [
        "Survey this directory: what is here, and how big is it?",
        "Find what this project is about: read its README or the first text file.",
        "Look for open ends: search for TODO and FIXME.",
    ];
    let mut said = Vec::new();
    for full in [false, true] {
        if full {
            sandbox.write(
                "project/README.md",
                "# A project\n\nIt does things.\nTODO: more things\n",
            );
        }
        for prompt in prompts {
            let mut bench = sandbox.agent(flags).unwrap();
            let events = bench.prompt(prompt).await;
            let end = events
                .iter()
                .rfind(|event| event["type"] == "turn_end")
                .unwrap();
            assert_eq!(end["message"]["stopReason"], "stop");
            said.push(
                end["message"]["content"][0]["text"]
                    .as_str()
                    .unwrap()
                    .to_owned(),
            );
        }
    }
    // What a file weighs is the file system's business.
    let said: Vec<&String> = said
        .iter()
        .enumerate()
        .filter(|(number, _)| number % 3 != 0)
        .map(|(_, text)| text)
        .collect();
    insta::assert_snapshot!(said.iter().map(|text| text.as_str()).collect::<Vec<_>>().join("\n---\n"), @"
    There is no README and no text file here, so this directory does not say what it is about.
    ---
    No TODO and no FIXME: nothing was left open here.
    ---
    In README.md it says:

    # A project

    It does things.
    TODO: more things
    ---
    Lines marked as open: 1. The first ones:

    README.md:4: TODO: more things
    ");
}
