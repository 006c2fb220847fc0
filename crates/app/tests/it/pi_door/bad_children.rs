//! Children of every bad sort, under a pi that must not feel them.

use pi_subagents_testkit::bin;
use pi_subagents_testkit::llm::Script;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::PiDoor;
use crate::real_pi::{RealPi, for_each_pi};

for_each_pi! {
    nothing_a_child_prints_hurts_the_parent,
}

fn nothing_a_child_prints_hurts_the_parent(pi: RealPi) {
    let door = PiDoor::new(pi, "pi", Script::new());
    let command = door
        .pi(&["--mode", "rpc"])
        .env("PI_SUBAGENTS_PI", bin("misbehave"));
    let mut parent = door.parent_of(command);
    let scripts = [
        (
            "number",
            json!([{"toolCall": {"name": "read", "arguments": {"path": 5}, "result": "?"}}, {"reply": "five"}]),
        ),
        ("null", json!([{"null": true}, {"reply": "nothing"}])),
        (
            "flood",
            json!([{"flood": {"megabytes": 30, "type": "text"}}, {"reply": "wet"}]),
        ),
        ("types", json!([{"wrongTypes": true}, {"reply": "odd"}])),
        (
            "escape",
            json!([{"reply": "\u{1b}[2J\u{1b}]0;gone\u{7}clear"}]),
        ),
        ("dead", json!([{"signal": "KILL"}])),
    ];
    let tasks: Vec<Value> = scripts
        .iter()
        .map(|(name, script)| json!({"name": name, "prompt": script.to_string()}))
        .collect();
    let answer = parent.call("delegate_to_subagents", json!({"tasks": tasks}));
    assert!(!answer.is_error, "{answer:?}");
    insta::allow_duplicates! {
        insta::assert_snapshot!(door.sandbox.normalise(&answer.text), @"
        ✓ number: completed (session: <session-1>)
          saw: 2 turns, 1 tool call, 220 tokens, <$0.01
        ✓ null: completed (session: <session-2>)
          saw: no tool call, 1 turn, 110 tokens, <$0.01
        ✓ flood: completed (session: <session-3>)
          saw: no tool call, 1 turn, 110 tokens, <$0.01
        ✓ types: completed (session: <session-4>)
          saw: 3 turns, 1 tool call, 110 tokens, <$0.01
        ✓ escape: completed (session: <session-5>)
          saw: no tool call, 1 turn, 110 tokens, <$0.01
        ✗ dead: error — The sub-agent was killed by SIGKILL. (session: <session-6>)
        ");
    }
    let windows = answer.details["windows"].as_array().unwrap();
    assert_eq!(windows[0]["lines"][0]["text"], "read → ...");
    let drawn = answer.details["windows"].to_string();
    assert!(!drawn.contains("\\u001b"), "{drawn}");

    let state = parent.rpc.ask(&json!({"type": "get_state"}));
    assert_eq!(state["success"], true);
    parent.rpc.finish();
}
