//! Every script of the misbehaving child ends as it should, and its siblings go on.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::time::Duration;

use pi_subagents_testkit::process::peak_data_kb;
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, call, completed, failed, outcomes};

#[test]
fn a_good_child_between_bad_ones_completes_and_answers_come_in_order() {
    let stage = Stage::new();
    let found = stage.outcomes(&[
        (
            "exits",
            json!([{"say": "so far"}, {"stderr": "out of luck\n"}, {"exit": 3}]),
        ),
        ("good", json!([{"reply": "fine"}])),
        ("crashes", json!([{"signal": "SEGV"}])),
        ("leaves early", json!([{"say": "half"}, {"exit": 0}])),
        ("killed", json!([{"signal": "KILL"}])),
        (
            "model fails",
            json!([{"modelError": "400 bad request"}, {"settle": true}]),
        ),
        (
            "refuses",
            json!([{"refusePrompt": "No API key found for openai"}]),
        ),
        ("good too", json!([{"reply": "also fine"}])),
    ]);
    assert_eq!(
        found,
        [
            failed(
                "exits",
                3,
                "The sub-agent exited with code 3: out of luck",
                Some("so far")
            ),
            completed("good", "fine"),
            failed("crashes", 139, "The sub-agent was killed by SIGSEGV.", None),
            failed(
                "leaves early",
                1,
                "The sub-agent exited before its answer was complete.",
                Some("half")
            ),
            failed("killed", 137, "The sub-agent was killed by SIGKILL.", None),
            failed("model fails", 1, "400 bad request", None),
            failed("refuses", 1, "No API key found for openai", None),
            completed("good too", "also fine"),
        ]
    );
}

#[test]
fn whatever_a_child_prints_its_answer_counts() {
    let stage = Stage::new();
    let found = stage.outcomes(&[
        ("null", json!([{"null": true}, {"reply": "after null"}])),
        (
            "wrong types",
            json!([{"wrongTypes": true}, {"reply": "after wrong types"}]),
        ),
        (
            "bytes",
            json!([{"bytes": [255, 254, 10]}, {"reply": "after bytes"}]),
        ),
        ("split", json!([{"splitChar": "é"}, {"reply": "after é"}])),
        (
            "text",
            json!([{"print": "plain\n\u{1b}[31mred\n"}, {"reply": "after text"}]),
        ),
        (
            "unknown",
            json!([{"record": {"type": "from_the_future"}}, {"reply": "after it"}]),
        ),
        (
            "half line",
            json!([{"say": "kept"}, {"settle": true}, {"halfLine": "{\"type\":"}]),
        ),
        (
            "long line",
            json!([{"line": {"megabytes": 20, "type": "text"}}, {"reply": "after 20 MB"}]),
        ),
    ]);
    assert_eq!(
        found,
        [
            completed("null", "after null"),
            completed("wrong types", "after wrong types"),
            completed("bytes", "after bytes"),
            completed("split", "after é"),
            completed("text", "after text"),
            completed("unknown", "after it"),
            completed("half line", "kept"),
            completed("long line", "after 20 MB"),
        ]
    );
}

#[test]
fn a_child_that_answered_and_does_not_exit_is_ended_and_its_answer_kept() {
    let stage = Stage::new();
    let found = stage.outcomes(&[(
        "lingers",
        json!([{"ignoreEof": true}, {"reply": "the answer"}, {"hang": true}]),
    )]);
    assert_eq!(found, [completed("lingers", "the answer")]);
}

#[test]
fn a_child_that_settles_and_exits_at_once_has_completed() {
    let stage = Stage::new();
    let eager = json!([{"messages": {"count": 900, "bytes": 10}}, {"say": "the answer"}, {"settle": true}, {"exit": 0}]);
    let names: Vec<String> = (0..8).map(|n| format!("t{n}")).collect();
    let tasks: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), eager.clone()))
        .collect();
    let expected: Vec<_> = names
        .iter()
        .map(|name| completed(name, "the answer"))
        .collect();
    assert_eq!(stage.outcomes(&tasks), expected);
}

#[test]
fn a_child_that_closes_its_output_and_lives_on_is_lost() {
    let stage = Stage::new();
    let found = stage.outcomes(&[(
        "silent",
        json!([{"ignoreEof": true}, {"say": "last words"}, {"closeStdout": true}, {"hang": true}]),
    )]);
    assert_eq!(
        found,
        [failed(
            "silent",
            1,
            "Lost the sub-agent: it closed its output and lived on.",
            Some("last words")
        )]
    );
}

#[test]
fn a_child_that_repeats_itself_is_stopped() {
    let stage = Stage::new();
    // Other results each time: with equal ones it would be told before it is stopped.
    let again = |result: &str| {
        let call = json!({"name": "bash", "arguments": {"command": "ls"}, "result": result});
        json!({"toolCall": call})
    };
    let mut steps: Vec<Value> = ["a", "b", "c", "d", "e"].map(again).to_vec();
    steps.push(json!({"hang": true}));
    let found = stage.outcomes(&[("loop", json!(steps))]);
    assert_eq!(
        found,
        [failed(
            "loop",
            1,
            "Loop detected: sub-agent is repeating the same tool calls\nbash ls ×5",
            None
        )]
    );
}

#[test]
fn a_program_that_cannot_be_started_ends_its_task() {
    let stage = Stage::new();
    let program = stage
        .sandbox
        .write("project/not-executable", "#!/bin/sh\necho 0.87.1\n");
    let output = stage
        .delegate(&call(&[("a", json!([{"reply": "x"}]))]))
        .env("PI_SUBAGENTS_PI", &program)
        .run();
    let error = outcomes(&output).remove(0).error.unwrap();
    assert!(error.contains("not-executable"), "{error}");
    assert!(error.contains("Permission denied"), "{error}");
}

#[test]
fn questions_of_extensions_are_cancelled() {
    let stage = Stage::new();
    let found = stage.outcomes(&[(
        "asks",
        json!([{"askUser": {"id": "u1", "method": "confirm"}}, {"settle": true}]),
    )]);
    let said = found[0].output.clone().unwrap();
    assert!(said.contains(r#""cancelled":true"#), "{said}");
}

#[test]
fn the_owner_stays_small_whatever_children_print() {
    let stage = Stage::new();
    let done = stage.path("done");
    let flood = |kind: &str| json!({"flood": {"megabytes": 60, "type": kind, "lineBytes": 300}});
    let line = |megabytes: u32, kind: &str| json!({"line": {"megabytes": megabytes, "type": kind}});
    let end = [
        json!({"say": SAID_IT_ALL}),
        json!({"waitForFile": done}),
        json!({"reply": "done"}),
    ];
    let with_end = |steps: Vec<serde_json::Value>| json!([steps, end.to_vec()].concat());
    let running = stage
        .delegate(&call(&[
            (
                "deltas",
                with_end(vec![
                    flood("message_update"),
                    flood("tool_execution_update"),
                ]),
            ),
            (
                "repetitions",
                with_end(vec![line(100, "agent_end"), line(100, "message_start")]),
            ),
            (
                "long",
                with_end(vec![line(100, "message_end"), line(7, "message_end")]),
            ),
            (
                "many long",
                with_end([vec![line(7, "message_end"); 6], vec![line(7, "text"); 12]].concat()),
            ),
        ]))
        .spawn();
    let pid = running.pid();
    wait_until(Duration::from_mins(2), || {
        (runs_that_said_it_all(&stage) == 4).then_some(())
    })
    .expect("the children to be done");
    let peak = peak_data_kb(pid).unwrap();
    fs::write(done, "").unwrap();
    let found = outcomes(&running.wait());
    assert_eq!(
        found,
        [
            completed("deltas", "done"),
            completed("repetitions", "done"),
            completed("long", "done"),
            completed("many long", "done"),
        ]
    );
    // With the pages of a release build, this stays below the 64 MB that are promised.
    assert!(peak < 48 << 10, "the owner took {peak} kB");
}

/// The last words of a child.
const SAID_IT_ALL: &str = "That is all.";

/// Returns the number of runs that have the last words of their child in the end of their record.
fn runs_that_said_it_all(stage: &Stage) -> usize {
    let runs = stage.sandbox.project().join(".pi/subagents/runs");
    let runs = fs::read_dir(runs).into_iter().flatten().flatten();
    runs.filter(|run| {
        let mut tail = Vec::new();
        let read = File::open(run.path().join("events.jsonl")).and_then(|mut events| {
            let size = events.metadata()?.len();
            events.seek(SeekFrom::Start(size.saturating_sub(64 << 10)))?;
            events.read_to_end(&mut tail)
        });
        read.is_ok() && String::from_utf8_lossy(&tail).contains(SAID_IT_ALL)
    })
    .count()
}
