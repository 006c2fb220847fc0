//! Steps that print much.

use serde_json::{Value, json};

use super::stage::play;

#[test]
fn a_line_has_the_size_asked_for() {
    for kind in [
        "message_start",
        "message_update",
        "message_end",
        "turn_end",
        "agent_end",
        "tool_execution_update",
        "tool_execution_end",
    ] {
        let output = play(&json!([{"line": {"megabytes": 2, "bytes": 345, "type": kind}}]));
        let line = output.stdout.lines().nth(1).unwrap();
        assert_eq!(line.len() + 1, 2_000_345, "{kind}");
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["type"], kind);
        assert!(line.starts_with(&format!("{{\"type\":\"{kind}\"")));
    }
}

#[test]
fn a_line_of_text_is_no_record() {
    let output = play(&json!([{"line": {"bytes": 7, "type": "text"}}]));
    assert_eq!(output.stdout.lines().nth(1), Some("xxxxxx"));
}

#[test]
fn a_flood_is_many_lines() {
    let output =
        play(&json!([{"flood": {"megabytes": 3, "type": "message_end", "lineBytes": 1000}}]));
    let lines: Vec<&str> = output.stdout.lines().skip(1).collect();
    assert_eq!(lines.len(), 3000);
    assert!(
        lines
            .iter()
            .all(|line| line.len() == 999 && line == &lines[0])
    );
    let record: Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(record["message"]["stopReason"], "stop");
}

#[test]
fn messages_are_counted() {
    let lines = play(&json!([{"messages": {"count": 3, "bytes": 20}}])).json_lines();
    let texts: Vec<&Value> = lines[1..]
        .iter()
        .map(|line| &line["message"]["content"][0]["text"])
        .collect();
    assert_eq!(
        texts,
        [
            "message 1 xxxxxxxxxx",
            "message 2 xxxxxxxxxx",
            "message 3 xxxxxxxxxx"
        ]
    );
}
