//! Steps that speak the protocol as pi does.

use serde_json::{Value, json};

use super::stage::{misbehave, outline, play};
use pi_subagents_testkit::sandbox::Sandbox;

#[test]
fn a_reply_is_a_whole_turn() {
    let script = json!([{"reply": "done"}]);
    let output = play(&script).expect_success();
    assert_eq!(
        outline(&output.stdout),
        [
            "response prompt true",
            "agent_start",
            "turn_start",
            "message_start system",
            "message_end system",
            &format!("message_start user {script}"),
            &format!("message_end user {script}"),
            "message_start assistant pending",
            "message_update text_start",
            "message_update text_delta",
            "message_update text_end",
            "message_end assistant done stop",
            "turn_end assistant done stop",
            "agent_end",
            "agent_settled",
        ]
    );
}

#[test]
fn agent_end_repeats_the_messages_of_the_run() {
    let lines = play(&json!([{"say": "a"}, {"say": "b"}, {"settle": true}])).json_lines();
    let texts: Vec<&Value> = lines[3]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["content"][0]["text"])
        .collect();
    assert_eq!(texts, ["a", "b"]);
    assert_eq!(lines[4], json!({"type": "agent_settled"}));
}

#[test]
fn records_have_the_bytes_of_pi() {
    let output = play(&json!([{"say": "hi"}]));
    assert_eq!(
        output.stdout,
        concat!(
            r#"{"id":"prompt","type":"response","command":"prompt","success":true}"#,
            "\n",
            r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"hi"}],"#,
            r#""api":"openai-completions","provider":"fake","model":"fake-model","#,
            r#""usage":{"input":100,"output":10,"cacheRead":0,"cacheWrite":0,"totalTokens":110,"#,
            r#""cost":{"input":0.0003,"output":0.00015,"cacheRead":0.0,"cacheWrite":0.0,"total":0.00045}},"#,
            r#""stopReason":"stop","timestamp":1763000000000}}"#,
            "\n",
        )
    );
}

#[test]
fn a_tool_call_is_executed() {
    let output = play(&json!([{"toolCall": {
        "name": "bash", "arguments": {"command": "false"}, "result": "exit 1", "isError": true,
        "details": {"status": "ERROR"}, "terminate": true,
    }}]));
    assert_eq!(
        outline(&output.stdout),
        [
            "response prompt true",
            "message_end assistant bash toolUse",
            "tool_execution_start bash",
            "tool_execution_update bash",
            "tool_execution_end bash",
            "message_end toolResult exit 1",
        ]
    );
    assert_eq!(
        output.json_lines()[4],
        json!({
            "type": "tool_execution_end", "toolCallId": "call_1", "toolName": "bash",
            "result": {
                "content": [{"type": "text", "text": "exit 1"}],
                "details": {"status": "ERROR"},
                "terminate": true,
            },
            "isError": true,
        })
    );
}

#[test]
fn tool_events_come_alone() {
    let output = play(&json!([
        {"toolStart": {"id": "c7", "name": "read", "arguments": {"path": "a"}}},
        {"toolUpdate": {"id": "c7", "name": "read", "result": "half"}},
        {"toolEnd": {"id": "c7", "name": "read", "result": "whole"}},
    ]));
    assert_eq!(
        output.json_lines()[1..],
        [
            json!({"type": "tool_execution_start", "toolCallId": "c7", "toolName": "read", "args": {"path": "a"}}),
            json!({"type": "tool_execution_update", "toolCallId": "c7", "toolName": "read", "args": {},
                "partialResult": {"content": [{"type": "text", "text": "half"}]}}),
            json!({"type": "tool_execution_end", "toolCallId": "c7", "toolName": "read",
                "result": {"content": [{"type": "text", "text": "whole"}]}, "isError": false}),
        ]
    );
}

#[test]
fn a_model_error_is_an_empty_message() {
    let output = play(&json!([{"modelError": "429 slow down"}, {"settle": true}]));
    assert_eq!(
        outline(&output.stdout),
        [
            "response prompt true",
            "message_end assistant error 429 slow down",
            "agent_end",
            "agent_settled",
        ]
    );
}

#[test]
fn a_prompt_can_be_refused() {
    let output = play(&json!([{"refusePrompt": "No API key found for fake"}]));
    assert_eq!(
        outline(&output.stdout),
        ["response prompt false No API key found for fake"]
    );
}

#[test]
fn text_that_is_no_script_is_echoed() {
    let output = misbehave(&Sandbox::new())
        .stdin("{\"type\":\"prompt\",\"message\":\"[hello\\n[x\"}\n")
        .run();
    assert!(
        output
            .stdout
            .contains(r#""text":"echo: [hello\n[x"}],"api""#)
    );
}

#[test]
fn a_script_may_stand_between_other_text() {
    let message = "Earlier:\n[{\"say\":\"old\"}]\nNow:\n[{\"say\":\n\"new\"}]\n\nBe brief.";
    let line = json!({"type": "prompt", "message": message}).to_string() + "\n";
    let output = misbehave(&Sandbox::new()).stdin(line).run();
    assert_eq!(
        outline(&output.stdout),
        ["response prompt true", "message_end assistant new stop"]
    );
}

#[test]
fn a_broken_script_is_not_taken_for_text() {
    let output = play(&json!([{"dance": true}]));
    assert_eq!(output.code, Some(64));
    assert!(
        output
            .stderr
            .starts_with("misbehave: not a script: unknown variant `dance`")
    );
}

#[test]
fn a_record_keeps_the_order_of_its_keys() {
    let message = r#"[{"record":{"z":1,"a":{"y":[1,2]},"b":"\u00e9"}}]"#;
    let line = json!({"type": "prompt", "message": message}).to_string() + "\n";
    let output = misbehave(&Sandbox::new()).stdin(line).run();
    assert_eq!(
        output.stdout.lines().last(),
        Some(r#"{"z":1,"a":{"y":[1,2]},"b":"\u00e9"}"#)
    );
}
