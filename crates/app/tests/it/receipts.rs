//! Receipts: the facts that were seen of a run, from children of both kinds.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, call};

for_each_pi! {
    both_kinds_of_child_leave_the_same_receipt,
    a_receipt_has_the_files_of_its_own_run_alone,
}

fn bash(command: &str) -> Turn {
    Turn::tool_call("bash", json!({"command": command}))
}

fn stage_with(turns: Vec<Turn>) -> (Stage, LlmServer) {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(turns));
    stage.sandbox.models_json(&server.base_url());
    (stage, server)
}

/// Leaves out the parts that differ from run to run: the durations of commands, and the costs of
/// models.
fn steady(receipt: &Value) -> Value {
    let mut receipt = receipt.clone();
    for command in receipt["commands"].as_array_mut().unwrap() {
        let seconds = command.as_object_mut().unwrap().remove("seconds");
        assert!(seconds.unwrap().is_number());
    }
    let models = receipt.as_object_mut().unwrap().remove("models").unwrap();
    assert_eq!(models[0]["answers"], receipt["turns"]);
    receipt
}

fn both_kinds_of_child_leave_the_same_receipt(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let (stage, _server) = stage_with(vec![
            Turn::tool_call("write", json!({"path": "a.txt", "content": "one\n"})),
            Turn::tool_call(
                "edit",
                json!({"path": "a.txt", "edits": [{"oldText": "one", "newText": "two"}]}),
            ),
            Turn::tool_call("read", json!({"path": "missing.txt"})),
            bash("make test || exit 7"),
            bash("sh -c 'exit 0' | cat"),
            bash("printf 'test:\\n\\ttrue\\n' > Makefile && make test"),
            Turn::text("All tests pass."),
        ]);
        let output = delegate(pi, &stage, runner, &call(&[("a", json!("Do it."))])).run();
        let answer = output.json();
        let receipt = steady(&answer["runs"][0]["receipt"]);
        assert_eq!(
            receipt,
            json!({
                "turns": 7,
                "tools": {"bash": 3, "edit": 1, "read": 1, "write": 1},
                "toolErrors": 2,
                "files": {"changed": ["a.txt"], "edits": 2, "source": "calls", "uncertainCommands": 2},
                "commands": [
                    {"command": "make test || exit 7", "exit": 7, "kind": "test"},
                    {"command": "sh -c 'exit 0' | cat", "exit": 0},
                    {
                        "command": "printf 'test:\\n\\ttrue\\n' > Makefile && make test",
                        "exit": 0, "kind": "test",
                    },
                ],
                "commandCount": 3,
                "tests": {
                    "state": "passed",
                    "command": "printf 'test:\\n\\ttrue\\n' > Makefile && make test",
                    "exit": 0, "afterLastChange": true,
                },
                "flags": [],
            }),
            "{runner}"
        );
        let text = answer["text"].as_str().unwrap();
        let seen = text.lines().nth(1).unwrap();
        assert!(
            seen.starts_with("  saw: 2 edits in 1 file, printf 'test:"),
            "{runner}: {text}"
        );
        let run = answer["runs"][0]["runId"].as_str().unwrap();
        let printed = stage.command(&["output", run, "--receipt", "--json"]).run();
        assert_eq!(steady(&printed.json()["receipt"]), receipt, "{runner}");
        let status = stage.command(&["status", run, "--json"]).run().json();
        assert_eq!(steady(&status["runs"][0]["receipt"]), receipt, "{runner}");
    }
}

fn a_receipt_has_the_files_of_its_own_run_alone(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let stage = Stage::new();
        let write = |path: &str| Turn::tool_call("write", json!({"path": path, "content": "x"}));
        let script = Script::new()
            .on(
                "first",
                [write("a.txt"), bash("echo x > c.txt"), Turn::text("Done.")],
            )
            .on("second", [write("b.txt"), Turn::text("Done.")]);
        let server = LlmServer::start(script);
        stage.sandbox.models_json(&server.base_url());
        let call = call(&[("a", json!("first")), ("b", json!("second"))]);
        let answer = delegate(pi, &stage, runner, &call).run().json();
        let files = [0, 1].map(|run| answer["runs"][run]["receipt"]["files"].clone());
        let own = |path: &str| json!({"changed": [path], "edits": 1, "source": "calls"});
        let mut first = own("a.txt");
        first["uncertainCommands"] = json!(1);
        assert_eq!(files, [first, own("b.txt")], "{runner}: {answer}");
    }
}

#[test]
fn a_person_reads_what_was_seen_and_what_to_look_at() {
    let (stage, _server) = stage_with(vec![
        bash("sh check all"),
        Turn::tool_call("write", json!({"path": "b.txt", "content": "x"})),
        Turn::text("Done."),
    ]);
    stage.settings(&json!({"testCommands": ["sh check"]}));
    stage.sandbox.write("project/check", "exit 0\n");
    let output = stage
        .command(&["run", "Do it.", "--runner", "embedded"])
        .run();
    let seen: Vec<&str> = output
        .stderr
        .lines()
        .filter(|line| line.starts_with("  "))
        .collect();
    assert_eq!(
        seen,
        [
            "  saw: 1 edit in 1 file, sh check all → 0, 3 turns",
            "  ! files changed after the last test",
        ]
    );
}

#[test]
fn a_test_that_was_stopped_by_its_limit_has_no_exit_code() {
    let (stage, _server) = stage_with(vec![
        Turn::tool_call("bash", json!({"command": "sleep 60", "timeout": 1})),
        Turn::text("Done."),
    ]);
    let call = call(&[("a", json!("Do it."))]);
    let answer = stage.delegate_to("embedded", &call).run().json();
    assert_eq!(
        steady(&answer["runs"][0]["receipt"])["commands"],
        json!([{"command": "sleep 60", "exit": null, "cut": "timedOut"}])
    );
}
