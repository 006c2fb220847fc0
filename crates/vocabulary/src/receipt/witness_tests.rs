use bytes::Bytes;
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{CutShort, Receipt};
use super::*;
use crate::RunId;
use crate::child_protocol::{ChildLine, decode};

/// A run whose lines come one second apart.
#[derive(Default)]
struct Told {
    witness: Witness,
    seconds: i64,
}

impl Told {
    fn line(&mut self, line: &Value) -> &mut Self {
        let line = line.to_string();
        let ChildLine::Record(record) = decode(line.as_bytes()) else {
            panic!("{line} is no record");
        };
        self.happens(Happening::Said {
            line: Bytes::from(line),
            record,
        })
    }

    fn happens(&mut self, happening: Happening) -> &mut Self {
        self.seconds += 1;
        self.witness.apply(&RunEvent {
            run: RunId::parse("20261116-000000-001-aaaaaa").unwrap(),
            at: Timestamp::from_second(self.seconds).unwrap(),
            happening,
        });
        self
    }

    /// Plays an answer with one call, the call, and its result, as children print them.
    fn call(&mut self, id: &str, tool: &str, arguments: &Value, result: &Value) -> &mut Self {
        self.asked(&[(id, tool, arguments)]);
        self.done(id, tool, arguments, result)
    }

    fn asked(&mut self, calls: &[(&str, &str, &Value)]) -> &mut Self {
        let calls = calls.iter().map(|(id, tool, arguments)| {
            json!({"type": "toolCall", "id": id, "name": tool, "arguments": arguments})
        });
        let content: Vec<Value> = calls.collect();
        self.line(&json!({"type": "message_end", "message": {
            "role": "assistant", "content": content, "provider": "test", "model": "small",
            "usage": {"input": 100, "output": 10, "cost": {"total": 0.25}}}}))
    }

    fn done(&mut self, id: &str, tool: &str, arguments: &Value, result: &Value) -> &mut Self {
        let is_error = result.get("error").is_some();
        let text = result.get("error").or(result.get("text")).cloned();
        let content = json!([{"type": "text", "text": text}]);
        self.line(&json!({"type": "tool_execution_start", "toolCallId": id, "toolName": tool, "args": arguments}));
        self.line(
            &json!({"type": "tool_execution_end", "toolCallId": id, "toolName": tool,
            "isError": is_error, "result": {"content": content}}),
        );
        self.line(
            &json!({"type": "message_end", "message": {"role": "toolResult", "toolCallId": id,
            "toolName": tool, "isError": is_error, "content": content}}),
        )
    }

    fn bash(&mut self, id: &str, command: &str, error: Option<&str>) -> &mut Self {
        let result = match error {
            Some(error) => json!({"error": error}),
            None => json!({"text": "fine"}),
        };
        self.call(id, "bash", &json!({"command": command}), &result)
    }

    fn edit(&mut self, id: &str, path: &str) -> &mut Self {
        self.call(
            id,
            "edit",
            &json!({"path": path, "edits": []}),
            &json!({"text": "ok"}),
        )
    }

    fn ended(&mut self) -> Receipt {
        self.happens(Happening::Ended(Ending::Completed));
        self.witness.receipt()
    }
}

#[test]
fn a_run_with_every_tool() {
    let mut told = Told::default();
    for (number, tool) in ["read", "grep", "find", "ls"].into_iter().enumerate() {
        told.call(
            &number.to_string(),
            tool,
            &json!({"path": "a"}),
            &json!({"text": ""}),
        );
    }
    told.edit("e1", "src/a.rs")
        .edit("e2", "./src/a.rs")
        .call(
            "w1",
            "write",
            &json!({"path": "b.rs", "content": ""}),
            &json!({"text": ""}),
        )
        .call(
            "w2",
            "write",
            &json!({"path": "/c"}),
            &json!({"error": "EACCES"}),
        )
        .bash(
            "b1",
            "cargo test",
            Some("failed\n\nCommand exited with code 101"),
        )
        .edit("e3", "src/a.rs")
        .bash("b2", "cargo test", None);
    insta::assert_snapshot!(serde_json::to_string_pretty(&told.ended()).unwrap(), @r#"
    {
      "turns": 11,
      "tools": {
        "bash": 2,
        "edit": 3,
        "find": 1,
        "grep": 1,
        "ls": 1,
        "read": 1,
        "write": 2
      },
      "toolErrors": 2,
      "models": [
        {
          "provider": "test",
          "model": "small",
          "answers": 11,
          "tokens": 1210,
          "cost": 2.75
        }
      ],
      "files": {
        "changed": [
          "src/a.rs",
          "b.rs"
        ],
        "edits": 4,
        "source": "calls"
      },
      "commands": [
        {
          "command": "cargo test",
          "exit": 101,
          "seconds": 1.0,
          "kind": "test"
        },
        {
          "command": "cargo test",
          "exit": 0,
          "seconds": 1.0,
          "kind": "test"
        }
      ],
      "commandCount": 2,
      "tests": {
        "state": "passed",
        "command": "cargo test",
        "exit": 0,
        "afterLastChange": true
      },
      "flags": []
    }
    "#);
}

#[test]
fn the_ends_of_commands_are_read_from_their_last_lines() {
    let mut told = Told::default();
    told.bash("a", "true", None)
        .bash("b", "false", Some("Command exited with code 1"))
        .bash(
            "c",
            "kill -9 $$",
            Some("half\n\nCommand exited with code 137"),
        )
        .bash("d", "sleep 9", Some("Command timed out after 1 seconds"))
        .bash("e", "sleep 9", Some("half\n\nCommand aborted"))
        .bash("f", "x", Some("Working directory does not exist: /x"))
        .bash("g", "echo 'Command exited with code 3'", None);
    let receipt = told.ended();
    let ends: Vec<(Option<i32>, Option<CutShort>)> = receipt
        .commands
        .iter()
        .map(|seen| (seen.end.exit, seen.end.cut))
        .collect();
    assert_eq!(
        ends,
        [
            (Some(0), None),
            (Some(1), None),
            (Some(137), None),
            (None, Some(CutShort::TimedOut)),
            (None, Some(CutShort::Aborted)),
            (None, Some(CutShort::Unknown)),
            (Some(0), None),
        ]
    );
    assert_eq!(receipt.commands[0].seconds, Some(1.0));
}

#[test]
fn a_change_after_a_test_makes_it_stale() {
    let seen = |told: &mut Told| {
        let receipt = told.ended();
        (receipt.tests.state, receipt.flags)
    };
    let mut passed = Told::default();
    passed.edit("e", "a").bash("t", "cargo test", None);
    assert_eq!(seen(&mut passed), (TestState::Passed, vec![]));
    let mut stale = Told::default();
    stale.bash("t", "cargo test", None).edit("e", "a");
    assert_eq!(
        seen(&mut stale),
        (TestState::Stale, vec![Flag::ChangedAfterTest])
    );
    let mut beside = Told::default();
    let (test, edit) = (json!({"command": "cargo test"}), json!({"path": "a"}));
    beside.asked(&[("t", "bash", &test), ("e", "edit", &edit)]);
    beside.line(&json!({"type": "tool_execution_start", "toolCallId": "t", "toolName": "bash", "args": test}));
    beside.done("e", "edit", &edit, &json!({"text": ""}));
    beside.line(&json!({"type": "tool_execution_end", "toolCallId": "t", "toolName": "bash", "isError": false, "result": {}}));
    assert_eq!(
        seen(&mut beside),
        (TestState::Stale, vec![Flag::ChangedAfterTest])
    );
    let mut failed = Told::default();
    failed.bash("t", "cargo test", Some("Command exited with code 101"));
    assert_eq!(
        seen(&mut failed),
        (TestState::Failed, vec![Flag::LastTestFailed])
    );
    let mut hidden = Told::default();
    hidden.bash("t", "cargo test | tail", None);
    assert_eq!(
        seen(&mut hidden),
        (TestState::Unclear, vec![Flag::TestHidden])
    );
}

#[test]
fn a_shell_command_after_a_test_may_have_changed_files() {
    let seen = |told: &mut Told| {
        let receipt = told.ended();
        let last = receipt.tests.last.unwrap();
        (
            receipt.tests.state,
            last.after_last_change,
            last.commands_since,
            receipt.flags,
        )
    };
    let mut read = Told::default();
    read.bash("t", "cargo test", None)
        .bash("r", "git diff | head", None);
    let passed = (TestState::Passed, Some(true), 0, vec![]);
    assert_eq!(seen(&mut read), passed);
    let mut wrote = Told::default();
    wrote
        .bash("t", "cargo test", None)
        .bash("w", "sed -i s/a/b/ a", None);
    let flags = vec![Flag::CommandsAfterTest];
    let overtaken = (TestState::PassedBeforeCommands, None, 1, flags);
    assert_eq!(seen(&mut wrote), overtaken);
    let mut same_line = Told::default();
    same_line.bash("t", "cargo test && sed -i s/a/b/ a", None);
    assert_eq!(seen(&mut same_line), overtaken);
    let mut beside = Told::default();
    let (test, edit) = (
        json!({"command": "cargo test"}),
        json!({"command": "sed -i 1d a"}),
    );
    beside.asked(&[("t", "bash", &test), ("w", "bash", &edit)]);
    beside.line(&json!({"type": "tool_execution_start", "toolCallId": "t", "toolName": "bash", "args": test}));
    beside.done("w", "bash", &edit, &json!({"text": ""}));
    beside.line(&json!({"type": "tool_execution_end", "toolCallId": "t", "toolName": "bash", "isError": false, "result": {}}));
    assert_eq!(seen(&mut beside), overtaken);
    let mut running = Told::default();
    running.bash("t", "cargo test", None);
    running.line(&json!({"type": "tool_execution_start", "toolCallId": "w", "toolName": "bash", "args": edit}));
    assert_eq!(seen(&mut running), overtaken);
    let mut both = Told::default();
    both.bash("t", "cargo test", None)
        .bash("w", "sed -i s/a/b/ a", None)
        .edit("e", "a");
    let stale = (
        TestState::Stale,
        Some(false),
        1,
        vec![Flag::ChangedAfterTest],
    );
    assert_eq!(seen(&mut both), stale);
    let mut again = Told::default();
    again
        .bash("w", "cargo fmt", None)
        .bash("t", "cargo test > log 2>&1", None);
    assert_eq!(seen(&mut again), passed);
}

#[test]
fn changes_that_no_call_made_may_be_younger_than_the_test() {
    let tested = || {
        let mut told = Told::default();
        told.edit("e", "src/a.rs").bash("t", "cargo test", None);
        told
    };
    let after = |files: &[&str]| {
        let mut told = tested();
        let files = files.iter().map(|&file| file.to_owned());
        told.witness.take_worktree(files);
        let receipt = told.ended();
        assert_eq!(receipt.tests.state, TestState::Passed);
        receipt.tests.last.unwrap().after_last_change
    };
    assert_eq!(after(&["src/a.rs"]), Some(true));
    assert_eq!(after(&["sub/src/a.rs"]), Some(true));
    assert_eq!(after(&[]), Some(true));
    assert_eq!(after(&["src/a.rs", "b"]), None);
    assert_eq!(after(&["b"]), None);
}

#[test]
fn shell_commands_in_a_shared_checkout_may_have_changed_files() {
    let mut told = Told::default();
    told.bash("a", "ls", None)
        .bash("b", "cargo test", None)
        .bash("c", "cargo fmt", None)
        .bash("d", "echo x > y", None);
    let mut receipt = told.ended();
    assert_eq!(receipt.files.uncertain_commands, 2);
    receipt.take_worktree(["y".to_owned()]);
    assert_eq!(receipt.files.uncertain_commands, 0);
}

#[test]
fn a_gate_whose_own_file_was_changed_is_flagged() {
    let gated = |told: &mut Told| {
        told.happens(Happening::Gated(Gated {
            command: "./check.sh".to_owned(),
            attempt: 1,
            log: 1,
            step: GateStep::Passed,
        }));
        told.ended().flags
    };
    let mut edited = Told::default();
    assert_eq!(gated(edited.edit("e", "./check.sh")), [Flag::GateChanged]);
    let mut other = Told::default();
    assert_eq!(gated(other.edit("e", "a")), []);
    let mut by_git = Told::default();
    by_git.edit("e", "a");
    by_git.witness.take_worktree(["check.sh".to_owned()]);
    assert_eq!(gated(&mut by_git), [Flag::GateChanged]);
}

#[test]
fn a_call_that_never_ran_is_no_command() {
    let mut told = Told::default();
    told.bash("a", "rm -rf x", Some("Tool bash not found"));
    let asked = json!({"command": "echo 5"});
    told.asked(&[("b", "bash", &asked)]);
    told.line(&json!({"type": "message_end", "message": {"role": "toolResult", "toolCallId": "b",
        "toolName": "bash", "isError": true, "content": [{"type": "text", "text": "Operation aborted"}]}}));
    let receipt = told.ended();
    assert_eq!((receipt.calls(), receipt.tool_errors), (2, 2));
    assert_eq!(
        (receipt.command_count, receipt.files.uncertain_commands),
        (0, 0)
    );
}

#[test]
fn a_request_without_an_answer_is_no_turn() {
    let mut told = Told::default();
    let failed = |reason: &str| {
        json!({"type": "message_end", "message": {"role": "assistant", "content": [],
            "provider": "test", "model": "small", "stopReason": reason, "errorMessage": "429: slow down"}})
    };
    told.line(&failed("error")).line(&failed("error"));
    let receipt = told.witness.receipt();
    assert_eq!((receipt.turns, receipt.failed_requests), (0, 2));
    assert!(!receipt.is_empty() && receipt.models.is_empty());
    told.asked(&[]).line(&failed("aborted"));
    let receipt = told.ended();
    assert_eq!((receipt.turns, receipt.failed_requests), (1, 2));
    assert_eq!(receipt.models[0].answers, 1);
}

#[test]
fn a_run_without_a_tool_is_flagged_and_one_that_was_refused_is_not() {
    let mut told = Told::default();
    told.asked(&[]);
    let receipt = told.ended();
    assert_eq!(
        (receipt.calls(), receipt.flags),
        (0, vec![Flag::NoToolUsed])
    );
    assert_eq!(Witness::default().receipt(), Receipt::default());
}

#[test]
fn messages_alone_are_enough_as_a_session_file_has_them() {
    let mut told = Told::default();
    told.asked(&[("b", "bash", &json!({"command": "make test"}))]);
    told.line(&json!({"type": "message_end", "message": {"role": "toolResult", "toolCallId": "b",
        "toolName": "bash", "isError": true, "content": [{"type": "text", "text": "no\n\nCommand exited with code 2"}]}}));
    let receipt = told.ended();
    assert_eq!(receipt.tests.state, TestState::Failed);
    assert_eq!(
        receipt.tests.last.map(|test| test.end),
        Some(CommandEnd::exited(2))
    );
    assert_eq!(receipt.tool_errors, 1);
}

#[test]
fn a_receipt_stays_small_however_long_a_run_is() {
    let mut told = Told::default();
    for number in 0..10_000 {
        let id = number.to_string();
        told.bash(&id, &format!("echo {}", "x".repeat(2000)), None);
        told.edit(&format!("e{id}"), &format!("src/{id}.rs"));
        told.asked(&[(&format!("lost{id}"), &format!("tool{id}"), &json!({}))]);
    }
    let receipt = told.ended();
    assert_eq!(
        (receipt.command_count, receipt.commands.len()),
        (10_000, MAX_COMMANDS)
    );
    assert_eq!(
        (receipt.files.changed.len(), receipt.files.unlisted),
        (200, 9800)
    );
    assert_eq!(receipt.tools.len(), 51);
    assert_eq!(receipt.calls(), 30_000);
    assert!(serde_json::to_string(&receipt).unwrap().len() < 64 << 10);
}

proptest! {
    #[test]
    fn no_order_of_records_breaks_a_receipt(steps in proptest::collection::vec((0..4_u8, 0..3_u8, 0..2_u8), 0..60)) {
        let mut told = Told::default();
        for (step, id, tool) in steps {
            let id = id.to_string();
            let (tool, arguments) = match tool {
                0 => ("bash", json!({"command": "cargo test"})),
                _ => ("edit", json!({"path": "a"})),
            };
            match step {
                0 => told.asked(&[(&id, tool, &arguments)]),
                1 => told.line(&json!({"type": "tool_execution_start", "toolCallId": id, "toolName": tool, "args": arguments})),
                2 => told.line(&json!({"type": "tool_execution_end", "toolCallId": id, "toolName": tool, "isError": false})),
                _ => told.done(&id, tool, &arguments, &json!({"error": "x"})),
            };
        }
        let receipt = told.ended();
        prop_assert!(receipt.command_count + receipt.files.edits <= receipt.calls());
        prop_assert!(receipt.tool_errors <= receipt.calls());
        let written = serde_json::to_string(&receipt).unwrap();
        let read: Receipt = serde_json::from_str(&written).unwrap();
        prop_assert_eq!(read, receipt);
    }
}

#[test]
fn tests_that_passed_are_counted_in_the_output_of_tests_alone() {
    let mut told = Told::default();
    let output = |text: &str| json!({"text": text});
    told.call(
        "t1",
        "bash",
        &json!({"command": "cargo test"}),
        &output("ok. 40 passed\nok. 2 passed"),
    )
    .call(
        "c1",
        "bash",
        &json!({"command": "cat log"}),
        &output("99 passed"),
    )
    .call(
        "t2",
        "bash",
        &json!({"command": "pytest -q"}),
        &json!({"error": "1 failed, 7 passed\nCommand exited with code 1"}),
    );
    assert_eq!(told.ended().tests.passed, [40, 2, 42, 7]);
}
