//! The progress of a child through its list of things to do.

use pi_subagents_view::TodoProgress;
use serde_json::{Value, json};

use crate::script::{Script, run};

/// Plays calls one after the other and tells the progress after each.
fn progress(calls: &[(&str, Value, Value)]) -> Vec<Option<(usize, usize)>> {
    let mut script = Script::new();
    let mut seen = Vec::new();
    for (tool, arguments, result) in calls {
        let start = json!({"type": "tool_execution_start", "toolCallId": "t", "toolName": tool, "args": arguments});
        let end = json!({"type": "tool_execution_end", "toolCallId": "t", "toolName": tool,
            "isError": result == "failed", "result": result});
        script = script
            .printed(0, "scan", &start.to_string())
            .printed(0, "scan", &end.to_string());
        let todos = script.wall().window(&run("scan")).unwrap().todos();
        seen.push(todos.map(|TodoProgress { completed, total }| (completed, total)));
    }
    seen
}

#[test]
fn progress_follows_the_calls() {
    let list =
        json!({"todos": [{"status": "completed"}, {"done": true}, {"status": "pending"}, "four"]});
    let seen = progress(&[
        ("write_todos", list, Value::Null),
        (
            "edit_todos",
            json!({"action": "complete", "indices": [2]}),
            Value::Null,
        ),
        (
            "edit_todos",
            json!({"action": "complete", "indices": [4]}),
            Value::Null,
        ),
        (
            "edit_todos",
            json!({"action": "complete", "indices": [0]}),
            json!("failed"),
        ),
        (
            "edit_todos",
            json!({"action": "reopen", "index": 0}),
            Value::Null,
        ),
        (
            "edit_todos",
            json!({"action": "add", "todos": ["five", "six"]}),
            Value::Null,
        ),
        (
            "edit_todos",
            json!({"action": "remove", "indices": [0, 5]}),
            Value::Null,
        ),
        ("edit_todos", json!({"action": "clear"}), Value::Null),
    ]);
    assert_eq!(
        seen,
        [
            Some((2, 4)),
            Some((3, 4)),
            Some((4, 4)),
            Some((4, 4)),
            Some((3, 4)),
            Some((3, 6)),
            Some((3, 4)),
            None
        ]
    );
}

#[test]
fn a_result_that_tells_the_list_is_believed_and_nonsense_is_not() {
    let told = json!({"details": {"todos": [{"completed": true}, {"completed": false}]}});
    let seen = progress(&[
        ("edit_todos", json!({"action": 5}), Value::Null),
        ("edit_todos", json!({"action": "complete"}), told),
        (
            "edit_todos",
            json!({"indices": ["x", -1, 99], "action": "done"}),
            Value::Null,
        ),
        ("write_todos", json!(7), Value::Null),
    ]);
    assert_eq!(seen, [None, Some((1, 2)), Some((1, 2)), None]);
}
