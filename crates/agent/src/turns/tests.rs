//! Runs of the agent on scripts, judged by their events.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::testing::{Sandbox, last, messages_of, outline, script, tool_call};

#[tokio::test]
async fn a_prompt_with_a_tool_call_gives_the_events_of_pi() {
    let sandbox = Sandbox::new();
    sandbox.write("project/a.txt", "hello\n");
    let script = script(&json!([
        {"text": "Reading.", "toolCalls": [tool_call("read", &json!({"path": "a.txt"}))]},
        {"text": "It says {{lastToolResult.first}}."},
    ]));
    let mut bench = sandbox.playing(&script);
    let events = bench.prompt("Look!").await;
    insta::assert_snapshot!(outline(&events), @r#"
    agent_start
    turn_start
    message role="system"
    message role="user" "Look!"
    streamed role="assistant" stopReason="toolUse" "Reading."
    tool_execution_start toolCallId="call_1_1_1"
    tool_execution_end toolCallId="call_1_1_1" isError=false "hello\n"
    message role="toolResult" toolCallId="call_1_1_1" isError=false "hello\n"
    turn_end
    turn_start
    streamed role="assistant" stopReason="stop" "It says hello."
    turn_end
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
            tool_call("bash", &json!({"command": first, "timeout": 20})),
            tool_call("bash", &json!({"command": second, "timeout": 20})),
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
    streamed role="assistant" stopReason="toolUse"
    tool_execution_start toolCallId="call_1_1_1"
    tool_execution_start toolCallId="call_1_1_2"
    tool_execution_end toolCallId="call_1_1_2" isError=false "second\n"
    tool_execution_end toolCallId="call_1_1_1" isError=false "first\n"
    message role="toolResult" toolCallId="call_1_1_1" isError=false "first\n"
    message role="toolResult" toolCallId="call_1_1_2" isError=false "second\n"
    turn_end
    turn_start
    streamed role="assistant" stopReason="stop" "Both."
    turn_end
    agent_end willRetry=false
    agent_settled
    "#);
}

#[tokio::test]
async fn a_call_that_makes_no_sense_is_an_error_result() {
    let sandbox = Sandbox::new();
    let script = script(&json!([
        {"toolCalls": [tool_call("fly", &json!({})), tool_call("read", &json!("a")), tool_call("ls", &json!({}))]},
        {"text": "Sorry."},
    ]));
    let mut bench = sandbox.playing(&script);
    let events = bench.prompt("Go").await;
    let results: Vec<&Value> = messages_of("toolResult", &events)
        .iter()
        .map(|message| &message["content"][0]["text"])
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

#[tokio::test]
async fn an_abort_ends_a_tool_and_the_run() {
    let sandbox = Sandbox::new();
    let script = script(&json!([
        {"toolCalls": [tool_call("bash", &json!({"command": "echo on; sleep 600"}))]},
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
    streamed role="assistant" stopReason="toolUse"
    tool_execution_start toolCallId="call_1_1_1"
    tool_execution_update toolCallId="call_1_1_1"
    tool_execution_update toolCallId="call_1_1_1"
    tool_execution_end toolCallId="call_1_1_1" isError=true "on\n\n\nCommand aborted"
    message role="toolResult" toolCallId="call_1_1_1" isError=true "on\n\n\nCommand aborted"
    turn_end
    turn_start
    message role="assistant" stopReason="aborted" errorMessage="Request aborted"
    turn_end
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
        {"turns": [{"toolCalls": [tool_call("bash", &json!({"command": wait}))]}, {"text": "Not reached."}]},
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
    streamed role="assistant" stopReason="toolUse"
    tool_execution_start toolCallId="call_1_1_1"
    tool_execution_update toolCallId="call_1_1_1"
    tool_execution_end toolCallId="call_1_1_1" isError=false "(no output)"
    message role="toolResult" toolCallId="call_1_1_1" isError=false "(no output)"
    turn_end
    queue_update steering=[] followUp=["and more"]
    turn_start
    message role="user" "be steered"
    streamed role="assistant" stopReason="stop" "Steered."
    turn_end
    queue_update steering=[] followUp=[]
    turn_start
    message role="user" "and more"
    streamed role="assistant" stopReason="stop" "More."
    turn_end
    agent_end willRetry=false
    agent_settled
    "#);
}

#[tokio::test]
async fn a_finalized_run_asks_the_model_no_more() {
    let sandbox = Sandbox::new();
    let report = json!({"status": "SUCCESS", "result": "42"});
    let script = script(&json!([
        {"toolCalls": [tool_call("subagent_finalize", &report)]},
        {"text": "never said"},
    ]));
    let flags = format!("{} --finalize --no-tools", sandbox.script(&script));
    let mut bench = sandbox.agent(&flags).unwrap();
    let events = bench.prompt("Go").await;
    assert_eq!(
        last("tool_execution_end", &events)["result"],
        json!({"content": [{"type": "text", "text": "finalized"}], "details": report, "terminate": true})
    );
    insta::assert_snapshot!(outline(&events), @r#"
    agent_start
    turn_start
    message role="system"
    message role="user" "Go"
    streamed role="assistant" stopReason="toolUse"
    tool_execution_start toolCallId="call_1_1_1"
    tool_execution_end toolCallId="call_1_1_1" isError=false "finalized"
    message role="toolResult" toolCallId="call_1_1_1" isError=false "finalized"
    turn_end
    agent_end willRetry=false
    agent_settled
    "#);
}
