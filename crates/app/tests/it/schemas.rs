//! Runs whose result must meet a schema: met at once, met late, never met, and not a schema at all.

use std::fs;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::CommandOutput;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, completed, failed, outcomes};

for_each_pi! {
    a_result_that_fits_at_once_is_structured,
    a_result_that_fits_after_two_tries_counts,
    five_results_that_do_not_fit_end_the_run,
    a_report_beside_another_tool_is_checked_too,
}

const RUNNERS: [&str; 2] = ["embedded", "pi"];

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["findings"],
        "additionalProperties": false,
        "properties": {"findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}}},
        "$defs": {"finding": {
            "type": "object",
            "required": ["file", "line"],
            "properties": {
                "file": {"type": "string", "pattern": "rs"},
                "line": {"type": "integer", "minimum": 1},
            },
        }},
    })
}

fn good() -> Value {
    json!({"findings": [{"file": "app.rs", "line": 3}]})
}

fn task(schema: &Value) -> Value {
    json!({"tasks": [{"name": "a", "prompt": "Look around.", "outputSchema": schema}]})
}

fn success(result: &Value) -> Value {
    json!({"status": "SUCCESS", "result": result})
}

fn report(result: &Value) -> Turn {
    Turn::tool_call("subagent_finalize", success(result))
}

/// Runs a task on a scripted model.
fn answer(
    pi: RealPi,
    stage: &Stage,
    runner: &str,
    schema: &Value,
    turns: &[Turn],
) -> (CommandOutput, LlmServer) {
    let server = LlmServer::start(Script::new().otherwise(turns.to_vec()));
    stage.sandbox.models_json(&server.base_url());
    let output = delegate(pi, stage, runner, &task(schema)).run();
    (output, server)
}

/// The facts of a run that its schema decides.
fn typed(output: &CommandOutput) -> Value {
    let run = &output.json()["runs"][0];
    json!({
        "status": run["status"],
        "structured": run["structured"],
        "rejected": run["rejected"],
        "schema": run["receipt"]["schema"],
    })
}

/// The same, as `result.json` has it.
fn recorded(output: &CommandOutput) -> Value {
    let directory = output.json()["runs"][0]["directory"].clone();
    let path = format!("{}/result.json", directory.as_str().unwrap());
    let result: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    json!({
        "status": result["status"],
        "structured": result["structured"],
        "rejected": result["rejected"],
        "schema": result["receipt"]["schema"],
    })
}

fn met(result: &Value, attempts: u32) -> Value {
    json!({
        "status": "completed", "structured": result, "rejected": null,
        "schema": {"state": "met", "attempts": attempts},
    })
}

fn printed(stage: &Stage, output: &CommandOutput) -> String {
    let session = output.json()["runs"][0]["sessionId"].clone();
    let read = stage.command(&["output", session.as_str().unwrap()]).run();
    read.stdout
}

fn a_result_that_fits_at_once_is_structured(pi: RealPi) {
    for runner in RUNNERS {
        let stage = Stage::new();
        let (output, server) = answer(pi, &stage, runner, &schema(), &[report(&good())]);
        assert_eq!(
            typed(&output),
            met(&good(), 1),
            "{runner}: {}",
            output.stderr
        );
        assert_eq!(recorded(&output), met(&good(), 1), "{runner}");
        let indented = serde_json::to_string_pretty(&good()).unwrap();
        assert_eq!(
            printed(&stage, &output),
            format!("{indented}\n"),
            "{runner}"
        );
        let request = server.requests()[0].body.to_string();
        for refused in ["$ref", "$defs", "\"pattern\""] {
            let offered = request.split("JSON schema").next().unwrap();
            assert!(
                !offered.contains(refused),
                "{runner} offers {refused}: {offered}"
            );
        }
        assert!(request.contains("\"minimum\":1"), "{runner}: {request}");
    }
}

fn a_result_that_fits_after_two_tries_counts(pi: RealPi) {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    for runner in RUNNERS {
        let stage = Stage::new();
        // A model may write its result as a text.
        let turns = [
            report(&json!({})),
            report(&json!(["one"])),
            report(&json!("[1, 2]")),
        ];
        let (output, server) = answer(pi, &stage, runner, &list, &turns);
        assert_eq!(
            typed(&output),
            met(&json!([1, 2]), 3),
            "{runner}: {}",
            output.stderr
        );
        let told = server.requests()[2].body.to_string();
        let words = r#"/0: \"one\" is not of type \"integer\""#;
        assert!(told.contains(words), "{runner}: {told}");
        assert_eq!(
            output.json()["runs"][0]["receipt"]["toolErrors"],
            2,
            "{runner}"
        );
    }
}

fn five_results_that_do_not_fit_end_the_run(pi: RealPi) {
    for runner in RUNNERS {
        let stage = Stage::new();
        let close = json!({"findings": [{"file": "app.rs"}]});
        let bad = json!({"findings": [{"file": 7}], "more": true});
        let mut turns =
            vec![Turn::text("The finding.").and_tool_call("subagent_finalize", success(&bad))];
        turns.extend([
            report(&close),
            report(&bad),
            report(&bad),
            report(&bad),
            report(&good()),
        ]);
        let (output, server) = answer(pi, &stage, runner, &schema(), &turns);
        let error = "None of its 5 reports met the output schema. Wrong in the best one: /findings/0/line: \"line\" is a required property";
        assert_eq!(
            outcomes(&output),
            [failed("a", 1, error, Some("The finding."))],
            "{runner}: {}",
            output.stderr
        );
        let expected = json!({
            "status": "failed", "structured": null,
            "rejected": {
                "result": close,
                "errors": ["/findings/0/line: \"line\" is a required property"],
                "errorCount": 1,
            },
            "schema": {"state": "notMet", "attempts": 5},
        });
        assert_eq!(typed(&output), expected, "{runner}");
        assert_eq!(recorded(&output), expected, "{runner}");
        assert_eq!(printed(&stage, &output), "The finding.\n", "{runner}");
        assert!(server.requests().len() <= 6, "{runner}");
    }
}

fn a_report_beside_another_tool_is_checked_too(pi: RealPi) {
    for runner in RUNNERS {
        let stage = Stage::new();
        let beside = |result: &Value| {
            Turn::tool_call("bash", json!({"command": "true"}))
                .and_tool_call("subagent_finalize", success(result))
        };
        let turns = [beside(&json!({})), beside(&good())];
        let (output, _server) = answer(pi, &stage, runner, &schema(), &turns);
        assert_eq!(
            typed(&output),
            met(&good(), 2),
            "{runner}: {}",
            output.stderr
        );
    }
}

/// Lets a misbehaving child play `first`, and one of `next` for each message that it gets.
fn play(stage: &Stage, first: &Value, next: &[Value]) -> CommandOutput {
    let file = stage.sandbox.write("next.json", &json!(next).to_string());
    let call = json!({"tasks": [
        {"name": "a", "prompt": first.to_string(), "outputSchema": schema()},
    ]});
    stage.delegate(&call).env("MISBEHAVE_NEXT", file).run()
}

/// A child that takes anything for a report.
fn unchecked(result: &Value) -> Value {
    json!([{"toolCall": {
        "name": "subagent_finalize", "arguments": success(result), "details": success(result),
        "terminate": true,
    }}, {"settle": true}])
}

#[test]
fn a_child_that_does_not_check_is_told_by_a_message() {
    let stage = Stage::new();
    let output = play(&stage, &unchecked(&json!("x")), &[unchecked(&good())]);
    assert_eq!(typed(&output), met(&good(), 2), "{}", output.stderr);
    let bad = unchecked(&json!({}));
    let output = play(
        &stage,
        &bad,
        &[bad.clone(), bad.clone(), bad.clone(), bad.clone()],
    );
    assert_eq!(typed(&output)["status"], "failed");
    assert_eq!(typed(&output)["structured"], Value::Null);
    assert_eq!(
        typed(&output)["schema"],
        json!({"state": "notMet", "attempts": 5})
    );
}

#[test]
fn missing_reports_and_wrong_ones_are_counted_apart() {
    let stage = Stage::new();
    let (bad, silent) = (unchecked(&json!({})), json!([{"reply": "Done."}]));
    let next = [
        silent.clone(),
        bad.clone(),
        silent.clone(),
        bad.clone(),
        silent,
        unchecked(&good()),
    ];
    let output = play(&stage, &bad, &next);
    assert_eq!(typed(&output), met(&good(), 4), "{}", output.stderr);
}

#[test]
fn a_child_that_exits_after_a_wrong_report_goes_on() {
    let stage = Stage::new();
    let mut leaves = unchecked(&json!({}));
    leaves[1] = json!({"say": "So."});
    leaves.as_array_mut().unwrap().push(json!({"exit": 3}));
    let output = play(&stage, &leaves, &[unchecked(&good())]);
    assert_eq!(typed(&output), met(&good(), 2), "{}", output.stderr);
}

#[test]
fn the_first_report_that_fits_is_the_one_that_counts() {
    let stage = Stage::new();
    let (fits, wrong) = (unchecked(&good()), unchecked(&json!({})));
    let twice = json!([fits[0], wrong[0], {"settle": true}]);
    let output = play(&stage, &twice, &[]);
    assert_eq!(typed(&output), met(&good(), 1), "{}", output.stderr);
}

#[test]
fn what_is_no_schema_refuses_its_task_and_no_other() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(vec![Turn::text("Fine."); 4]));
    stage.sandbox.models_json(&server.base_url());
    let with =
        |name: &str, schema: Value| json!({"name": name, "prompt": "p", "outputSchema": schema});
    let call = json!({"tasks": [
        with("away", json!({"properties": {"a": {"$ref": "https://example.com/a.json"}}})),
        with("odd", json!({"properties": {"a": {"type": "strin"}}})),
        with("large", json!({"description": "x".repeat(70_000)})),
        with("list", json!([])),
        with("none", json!(false)),
        {"name": "plain", "prompt": "p"},
    ]});
    let output = stage.delegate_to("embedded", &call).run();
    assert_eq!(
        outcomes(&output),
        [
            failed(
                "away",
                1,
                "outputSchema cannot be used: at /properties/a/$ref: \"https://example.com/a.json\" is not in this schema; only references that begin with # are followed.",
                None
            ),
            failed(
                "odd",
                1,
                "outputSchema cannot be used: at /properties/a/type: \"strin\" is not valid under any of the schemas listed in the 'anyOf' keyword.",
                None
            ),
            failed(
                "large",
                1,
                "outputSchema cannot be used: it has 69 KB, and a schema may have 64 KB.",
                None
            ),
            failed(
                "list",
                1,
                "outputSchema cannot be used: a schema is an object, such as {\"type\": \"object\"}, not a list.",
                None
            ),
            completed("none", "Fine."),
            completed("plain", "Fine."),
        ],
        "{}",
        output.stderr
    );
}

#[test]
fn a_definition_has_a_schema_inline_or_in_a_file() {
    let stage = Stage::new();
    let inline = "outputSchema:\n  type: object\n  required: [n]\n  properties:\n    n: {type: integer, minimum: 1}";
    stage.profile("inline", inline, "Be brief.");
    stage.profile("file", "outputSchemaFile: schemas/n.json", "Be brief.");
    stage.profile("missing", "outputSchemaFile: schemas/no.json", "Be brief.");
    let n = json!({"type": "object", "required": ["n"]}).to_string();
    stage
        .sandbox
        .write("home/.pi/agent/agent-profiles/schemas/n.json", &n);
    for name in ["inline", "file"] {
        let turns = vec![report(&json!({"m": 1})), report(&json!({"n": 2}))];
        let server = LlmServer::start(Script::new().otherwise(turns));
        stage.sandbox.models_json(&server.base_url());
        let output = stage
            .command(&["run", name, "Count.", "--json", "--runner", "embedded"])
            .run();
        assert_eq!(
            typed(&output),
            met(&json!({"n": 2}), 2),
            "{name}: {}",
            output.stderr
        );
    }
    let server = LlmServer::start(Script::new().otherwise(vec![Turn::text("Text.")]));
    stage.sandbox.models_json(&server.base_url());
    let call = json!({"preset": "inline", "task": "Count.", "outputSchema": false});
    let file = stage.sandbox.write("call.json", &call.to_string());
    let output = stage
        .command(&["run", "--json", "--runner", "embedded", "--file"])
        .args([file])
        .run();
    assert_eq!(
        outcomes(&output),
        [completed("inline", "Text.")],
        "{}",
        output.stderr
    );
    let output = stage
        .command(&["run", "missing", "Count.", "--json", "--runner", "embedded"])
        .run();
    let error = output.json()["runs"][0]["errorMessage"].to_string();
    assert!(error.contains("schemas/no.json of "), "{error}");
}

#[test]
fn a_schema_of_the_command_line_is_read_before_anything_starts() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(vec![report(&json!([1]))]));
    stage.sandbox.models_json(&server.base_url());
    let file = |name: &str, text: &str| stage.sandbox.write(name, text).display().to_string();
    let run = |file: &str| {
        stage
            .command(&[
                "run",
                "Count.",
                "--json",
                "--runner",
                "embedded",
                "--output-schema",
                file,
            ])
            .run()
    };
    let answered = run(&file("fine.json", r#"{"type": "array"}"#));
    assert_eq!(typed(&answered), met(&json!([1]), 1), "{}", answered.stderr);
    for (name, text, error) in [
        (
            "broken.json",
            "{",
            "it is not JSON: EOF while parsing an object at line 1 column 1",
        ),
        (
            "odd.json",
            r#"{"items": {"type": 7}}"#,
            "at /items/type: 7 is not valid under any of the schemas listed in the 'anyOf' keyword",
        ),
    ] {
        let refused = run(&file(name, text));
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stdout.contains(error), "{}", refused.stdout);
    }
}
