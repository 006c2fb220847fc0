//! Runs that must end with a report: the report comes, comes late or never comes.

use std::fs;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::CommandOutput;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Outcome, Stage, completed, failed, outcomes};

for_each_pi! {
    both_kinds_of_child_report_late,
    both_kinds_of_child_report_an_error_with_a_partial_result,
    both_kinds_of_child_that_never_report_keep_their_text,
    both_kinds_of_child_that_die_go_on_where_they_were,
    the_first_report_ends_the_turn_whatever_was_called_beside_it,
    every_way_to_restrict_tools_leaves_the_report,
}

const RUNNERS: [&str; 2] = ["embedded", "pi"];

/// A home with a definition that must report.
fn stage() -> Stage {
    let stage = Stage::new();
    define(&stage, "scout", "approved_tools:\n- read\n- bash");
    stage
}

fn define(stage: &Stage, name: &str, fields: &str) {
    stage.sandbox.write(
        &format!("home/.pi/agent/agents/{name}.md"),
        &format!("---\nname: {name}\ndescription: looks around\n{fields}\n---\nScout.\n"),
    );
}

fn task(prompt: &str, definition: &str) -> Value {
    json!({"tasks": [{"name": "a", "prompt": prompt, "profile": definition}]})
}

fn report(details: &Value) -> Value {
    json!({"toolCall": {
        "name": "subagent_finalize", "arguments": details, "details": details, "terminate": true,
    }})
}

/// Lets a child play `first`, and one of `next` for each correction.
fn play(stage: &Stage, first: &Value, next: &[Value]) -> CommandOutput {
    let file = stage.sandbox.write("next.json", &json!(next).to_string());
    stage
        .delegate(&task(&first.to_string(), "scout"))
        .env("MISBEHAVE_NEXT", file)
        .run()
}

/// Returns the number of each of our own lines in the record.
fn lives(output: &CommandOutput) -> [usize; 3] {
    let answer = output.json();
    let directory = answer["runs"][0]["directory"].as_str().unwrap();
    let events = fs::read_to_string(format!("{directory}/events.jsonl")).unwrap();
    ["run_started", "run_corrected", "run_steered"]
        .map(|kind| events.matches(&format!("\"type\":\"{kind}\"")).count())
}

/// The output as it is read back from disk.
fn output_on_disk(stage: &Stage, output: &CommandOutput) -> String {
    let session = output.json()["runs"][0]["sessionId"].clone();
    let read = stage.command(&["output", session.as_str().unwrap()]).run();
    read.stdout
}

fn never_reported(output: &str) -> Outcome {
    failed(
        "a",
        1,
        "The sub-agent never called subagent_finalize, although it was told 3 times.",
        Some(output),
    )
}

#[test]
fn a_report_that_is_missing_twice_and_then_given_counts() {
    let stage = stage();
    let done = json!({"status": "SUCCESS", "result": "It is in app.rs."});
    let output = play(
        &stage,
        &json!([{"reply": "I think I am done."}]),
        &[
            json!([{"reply": "Really."}]),
            json!([report(&done), {"settle": true}]),
        ],
    );
    assert_eq!(outcomes(&output), [completed("a", "It is in app.rs.")]);
    assert_eq!(lives(&output), [1, 2, 0]);
}

#[test]
fn a_run_that_never_reports_keeps_what_it_said_before_it_was_told() {
    let stage = stage();
    let no = json!([{"reply": "No."}]);
    let next = [no.clone(), no.clone(), no];
    let output = play(&stage, &json!([{"reply": "The finding."}]), &next);
    assert_eq!(outcomes(&output), [never_reported("The finding.")]);
    assert_eq!(lives(&output), [1, 3, 0]);
    assert_eq!(output_on_disk(&stage, &output), "The finding.\n");

    let silent = json!([{"toolCall": {"name": "read", "result": "x"}}, {"settle": true}]);
    let output = play(&stage, &silent, &next);
    assert_eq!(outcomes(&output), [never_reported("No.")]);
    assert_eq!(output_on_disk(&stage, &output), "No.\n");
}

#[test]
fn a_child_that_exits_without_its_report_is_started_again_on_its_session() {
    let stage = stage();
    let done = json!({"status": "ERROR", "error": "no such table", "result": "half"});
    for exit in [
        json!({"exit": 0}),
        json!({"exit": 3}),
        json!({"signal": "SEGV"}),
    ] {
        let arguments = [stage.path("first"), stage.path("second")];
        let output = play(
            &stage,
            &json!([{"dumpArgs": arguments[0]}, {"say": "Half of it."}, exit]),
            &[json!([{"dumpArgs": arguments[1]}, report(&done), {"settle": true}])],
        );
        assert_eq!(
            outcomes(&output),
            [failed("a", 1, "no such table", Some("half"))]
        );
        assert_eq!(lives(&output), [2, 1, 0]);
        let [first, second] = arguments.map(|file| fs::read_to_string(file).unwrap());
        assert!(first.contains("--session"), "{first}");
        assert_eq!(first, second);
    }
}

#[test]
fn a_child_that_keeps_exiting_is_given_up() {
    let stage = stage();
    let gone = |code: i32| json!([{"say": "No."}, {"exit": code}]);
    let first = json!([{"say": "The finding."}, {"exit": 0}]);
    let output = play(&stage, &first, &[gone(0), gone(0), gone(0)]);
    assert_eq!(outcomes(&output), [never_reported("The finding.")]);
    assert_eq!(lives(&output), [4, 3, 0]);
    let output = play(&stage, &first, &[gone(0), gone(0), gone(3)]);
    assert_eq!(
        outcomes(&output),
        [failed(
            "a",
            3,
            "The sub-agent exited with code 3.",
            Some("The finding.")
        )]
    );
}

#[test]
fn a_child_that_never_answered_is_not_started_again() {
    let stage = stage();
    let output = play(&stage, &json!([{"stderr": "bad flag\n"}, {"exit": 1}]), &[]);
    assert_eq!(
        outcomes(&output),
        [failed(
            "a",
            1,
            "The sub-agent exited with code 1: bad flag",
            None
        )]
    );
    assert_eq!(lives(&output), [1, 0, 0]);
}

/// Runs a definition on a scripted model.
fn answer(
    pi: RealPi,
    stage: &Stage,
    runner: &str,
    definition: &str,
    turns: &[Turn],
) -> (CommandOutput, LlmServer) {
    let server = LlmServer::start(Script::new().otherwise(turns.to_vec()));
    stage.sandbox.models_json(&server.base_url());
    let output = delegate(pi, stage, runner, &task("Look around.", definition)).run();
    (output, server)
}

fn finalize(arguments: &Value) -> Turn {
    Turn::tool_call("subagent_finalize", arguments.clone())
}

fn both_kinds_of_child_report_late(pi: RealPi) {
    let stage = stage();
    let done = json!({"status": "SUCCESS", "result": "It is in app.rs."});
    for runner in RUNNERS {
        let turns = [
            Turn::text("I think I am done."),
            finalize(&json!({"status": "SUCCESS"})),
            Turn::text("Really."),
            finalize(&done),
        ];
        let (output, server) = answer(pi, &stage, runner, "scout", &turns);
        assert_eq!(
            outcomes(&output),
            [completed("a", "It is in app.rs.")],
            "{runner}"
        );
        assert_eq!(lives(&output), [1, 2, 0], "{runner}");
        assert_eq!(
            server.requests().len(),
            4,
            "{runner}: a report ends the turn"
        );
    }
}

fn both_kinds_of_child_report_an_error_with_a_partial_result(pi: RealPi) {
    let stage = stage();
    let gone = json!({"status": "ERROR", "error": "no such table", "result": "half"});
    for runner in RUNNERS {
        let (output, _server) = answer(pi, &stage, runner, "scout", &[finalize(&gone)]);
        assert_eq!(
            outcomes(&output),
            [failed("a", 1, "no such table", Some("half"))],
            "{runner}"
        );
    }
}

fn both_kinds_of_child_that_never_report_keep_their_text(pi: RealPi) {
    let stage = stage();
    for runner in RUNNERS {
        let turns = ["The finding.", "No.", "No.", "No."].map(Turn::text);
        let (output, server) = answer(pi, &stage, runner, "scout", &turns);
        assert_eq!(
            outcomes(&output),
            [never_reported("The finding.")],
            "{runner}"
        );
        assert_eq!(
            output_on_disk(&stage, &output),
            "The finding.\n",
            "{runner}"
        );
        assert_eq!(server.requests().len(), 4, "{runner}");
    }
}

fn both_kinds_of_child_that_die_go_on_where_they_were(pi: RealPi) {
    let stage = stage();
    let done = json!({"status": "SUCCESS", "result": "alive"});
    // If a child is killed before it has written its words, nobody gets them.
    let die = "until grep -q 'I see' .pi/subagents/runs/$PI_SUBAGENTS_RUN/events.jsonl; \
        do sleep 0.02; done; kill -9 $PPID";
    for runner in RUNNERS {
        let turns = [
            Turn::text("I see.").and_tool_call("bash", json!({"command": die})),
            finalize(&done),
        ];
        let (output, server) = answer(pi, &stage, runner, "scout", &turns);
        assert_eq!(outcomes(&output), [completed("a", "alive")], "{runner}");
        assert_eq!(lives(&output), [2, 1, 0], "{runner}");
        let context = server.requests()[1].body.to_string();
        for part in ["Look around.", "I see.", "You have not reported yet."] {
            assert!(
                context.contains(part),
                "{runner}: {part} is not in {context}"
            );
        }
    }
}

fn the_first_report_ends_the_turn_whatever_was_called_beside_it(pi: RealPi) {
    let stage = stage();
    let done = json!({"status": "SUCCESS", "result": "first"});
    for (runner, commands) in [
        ("embedded", &["true", "sleep 600"][..]),
        ("pi", &["sleep 600"]),
    ] {
        for command in commands {
            let turns = [
                finalize(&done)
                    .and_tool_call("bash", json!({"command": command}))
                    .and_tool_call(
                        "subagent_finalize",
                        json!({"status": "ERROR", "error": "second"}),
                    ),
                Turn::text("And another thing.").gate("never"),
            ];
            let (output, _server) = answer(pi, &stage, runner, "scout", &turns);
            assert_eq!(
                outcomes(&output),
                [completed("a", "first")],
                "{runner} {command}"
            );
            assert_eq!(lives(&output), [1, 0, 0], "{runner} {command}");
        }
    }
}

fn every_way_to_restrict_tools_leaves_the_report(pi: RealPi) {
    let stage = stage();
    define(&stage, "allowed", "approved_tools:\n- read");
    define(
        &stage,
        "denied",
        "denied_tools:\n- bash\n- edit\n- subagent_finalize",
    );
    define(&stage, "none", "noTools: true\nfinalize: true");
    let done = json!({"status": "SUCCESS", "result": "done"});
    for runner in RUNNERS {
        for (definition, expected) in [
            ("allowed", "read subagent_finalize"),
            ("denied", "read subagent_finalize write"),
            ("none", "subagent_finalize"),
        ] {
            let (output, server) = answer(pi, &stage, runner, definition, &[finalize(&done)]);
            assert_eq!(
                outcomes(&output),
                [completed("a", "done")],
                "{runner} {definition}"
            );
            let body = &server.requests()[0].body;
            let tools = body["tools"].as_array().unwrap().iter();
            let mut tools: Vec<&str> = tools
                .map(|tool| tool["function"]["name"].as_str().unwrap())
                .collect();
            tools.sort_unstable();
            assert_eq!(tools.join(" "), expected, "{runner} {definition}");
        }
    }
}
