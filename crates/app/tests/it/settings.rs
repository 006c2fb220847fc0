//! Settings in use: the user's, and over them those of a trusted project.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, call, completed, failed, outcomes};

/// A child that calls a tool so often, always the same way, and then answers.
fn repeating(times: usize) -> Value {
    let again =
        json!({"toolCall": {"name": "bash", "arguments": {"command": "ls"}, "result": "a"}});
    let mut steps = vec![again; times];
    steps.push(json!({"reply": "enough"}));
    json!(steps)
}

#[test]
fn a_trusted_project_changes_single_values() {
    let stage = Stage::new();
    stage.settings(&json!({"maxLinesPerWindow": 3, "commandPreviewWidth": 5}));
    stage.sandbox.write(
        "project/.pi/settings.json",
        r#"{"subagents": {"maxLinesPerWindow": 1}}"#,
    );
    let command = "printf 'a very long command line'";
    let script = json!([
        {"toolCall": {"name": "bash", "arguments": {"command": command}, "result": ""}},
        {"say": "one"},
        {"reply": "two"}
    ]);
    let shown = |trust: &[&str]| {
        let output = stage
            .delegate_with_details(&call(&[("a", script.clone())]))
            .args(trust)
            .run();
        let details = output.json();
        let texts = |field: &str| -> Vec<Value> {
            let lines = details["windows"][0][field].as_array().unwrap().iter();
            lines.map(|line| line["text"].clone()).collect()
        };
        (
            details["maxLinesPerWindow"].clone(),
            texts("lines"),
            texts("allMessages"),
        )
    };
    let lines = ["bash → printf 'a ...", "one", "two"];
    let all = ["bash → printf 'a very long command line'", "one", "two"];
    let as_values =
        |texts: &[&str]| -> Vec<Value> { texts.iter().map(|text| json!(text)).collect() };
    assert_eq!(shown(&[]), (json!(3), as_values(&lines), as_values(&all)));
    assert_eq!(
        shown(&["--trust"]),
        (json!(1), as_values(&lines[2..]), as_values(&all))
    );
}

#[test]
fn what_counts_as_a_loop_can_be_set() {
    let stage = Stage::new();
    let loops = |evidence: &str| {
        let words = "Loop detected: sub-agent is repeating the same tool calls";
        failed("a", 1, &format!("{words}\n{evidence}"), None)
    };
    for (setting, repeated, expected) in [
        (json!(0), 20, completed("a", "enough")),
        (json!(1), 1, loops("bash ls ×1")),
        (json!(6), 5, completed("a", "enough")),
        (json!(6), 6, loops("bash ls ×6")),
        (json!("six"), 5, loops("bash ls ×5")),
    ] {
        stage.settings(&json!({"looping_tool_count": setting}));
        let mut found = outcomes(&stage.delegate(&call(&[("a", repeating(repeated))])).run());
        // It is chance how much it still said before it was ended.
        if found[0].error.is_some() {
            found[0].output = None;
        }
        assert_eq!(found, [expected], "{setting}, {repeated} times");
    }
}
