//! Tasks that are done for each item of a list, and calls of which the rest is done later.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn, Usage};
use pi_subagents_testkit::sandbox::{CommandOutput, SandboxCommand};
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::graphs::unbegun;
use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, asked, completed, outcomes};

for_each_pi! {
    a_list_in_the_result_of_a_pi_child_becomes_runs,
    the_rest_of_a_call_of_pi_children_is_done_after_a_kill,
}

const PATIENCE: Duration = Duration::from_mins(2);

fn server(stage: &Stage, script: Script) -> LlmServer {
    let server = LlmServer::start(script);
    stage.sandbox.models_json(&server.base_url());
    server
}

/// The prompts that the model was asked, sorted, each with the number of times.
fn prompts(server: &LlmServer) -> BTreeMap<String, usize> {
    let mut prompts = BTreeMap::new();
    for request in server.requests() {
        *prompts.entry(asked(&request.body)).or_default() += 1;
    }
    prompts
}

fn names(output: &CommandOutput, status: &str) -> Vec<String> {
    let outcomes = outcomes(output).into_iter();
    let meant = outcomes.filter(|outcome| outcome.status == status);
    meant.map(|outcome| outcome.name).collect()
}

#[test]
fn files_that_git_does_not_ignore_are_items() {
    let stage = Stage::new();
    let server = server(&stage, Script::new().otherwise([Turn::text("done")]));
    for file in [
        "b.rs",
        "a/c.rs",
        "a/d.txt",
        "target/e.rs",
        ".git/f.rs",
        "{{index}}.rs",
    ] {
        stage.sandbox.write(&format!("project/{file}"), "x");
    }
    stage.sandbox.write("project/.gitignore", "target\n");
    let task = "review=Review {{item}} ({{index}}) of {{item.path}}.";
    let each = ["delegate", "--each", "**/*.rs", "--task", task];
    let output = stage
        .command(&each)
        .args(["--runner", "embedded", "--json"])
        .run()
        .expect_success();
    assert_eq!(
        outcomes(&output),
        ["review[1]", "review[2]", "review[3]"].map(|name| completed(name, "done"))
    );
    let asked: Vec<String> = prompts(&server).into_keys().collect();
    assert_eq!(
        asked,
        [
            "Review a/c.rs (1) of a/c.rs.",
            "Review b.rs (2) of b.rs.",
            "Review {{index}}.rs (3) of {{index}}.rs.",
        ]
    );
}

#[test]
fn lines_are_items_and_many_of_them_need_a_budget_or_a_yes() {
    let stage = Stage::new();
    let server = server(&stage, Script::new().otherwise([Turn::text("done")]));
    let lines: Vec<String> = (0..17)
        .map(|number| format!("line {number}\r\n\n"))
        .collect();
    stage.sandbox.write("project/list.txt", &lines.concat());
    let each = [
        "delegate",
        "--each-line",
        "list.txt",
        "--task",
        "say=Say {{item}}.",
    ];
    let run = |more: &[&str]| {
        let command = stage.command(&each).args(["--runner", "embedded"]);
        command.args(more).run()
    };
    let refused = run(&[]);
    assert_eq!(refused.code, Some(2));
    insta::assert_snapshot!(refused.stderr, @"
    error: forEach of say has 17 items, and more than 16 need a budget
    hint: Add a limit for all of them, such as --budget-cost 5, or --yes to continue without one.
    ");
    assert_eq!(server.requests().len(), 0);
    assert_eq!(names(&run(&["--yes", "--json"]), "completed").len(), 17);
    let limited = run(&["--budget-runs", "20", "--json"]);
    assert_eq!(names(&limited, "completed").len(), 17);
    assert_eq!(prompts(&server)["Say line 0."], 2);
}

#[test]
fn the_maps_of_a_call_are_counted_together() {
    let stage = Stage::new();
    let server = server(&stage, Script::new());
    let items: Vec<String> = (0..9).map(|item| item.to_string()).collect();
    let call = json!({"tasks": [
        {"name": "a", "prompt": "{{item}}", "forEach": items},
        {"name": "b", "prompt": "{{item}}", "forEach": items},
    ]});
    let refused = stage.delegate_to("embedded", &call).run();
    assert_eq!(refused.code, Some(2));
    assert_eq!(
        refused.json()["error"]["message"],
        "the 2 maps of the call have 18 items, and more than 16 need a budget"
    );
    assert_eq!(server.requests().len(), 0);
}

fn a_list_in_the_result_of_a_pi_child_becomes_runs(pi: RealPi) {
    let stage = Stage::new();
    assert_list_in_result(&stage, |call| delegate(pi, &stage, "pi", call));
}

#[test]
fn a_list_in_the_result_of_an_embedded_child_becomes_runs() {
    let stage = Stage::new();
    assert_list_in_result(&stage, |call| stage.delegate_to("embedded", call));
}

fn assert_list_in_result(stage: &Stage, delegate: impl Fn(&Value) -> SandboxCommand) {
    let result = json!({"files": ["a {{item}}", "b", "c"]});
    let report = json!({"status": "SUCCESS", "result": result});
    let script = Script::new()
        .on("List", [Turn::tool_call("subagent_finalize", report)])
        .on("Move a", [Turn::text("moved a")])
        .on("Move b", [Turn::text("moved b")])
        .on("Move c", [Turn::text("moved c")])
        .on("Review", [Turn::text("fine")]);
    let server = server(stage, script);
    let call = json!({"tasks": [
        {"name": "plan", "prompt": "List.", "outputSchema": {"type": "object", "required": ["files"]}},
        {"name": "edit", "needs": ["plan"], "forEach": "{{plan.structured.files}}", "prompt": "Move {{item}}."},
        {"name": "review", "needs": ["edit"], "prompt": "Review {{edit.output}}"},
    ]});
    let output = delegate(&call).run().expect_success();
    let outcomes = outcomes(&output);
    assert_eq!(
        outcomes[1..],
        [
            completed("edit[1]", "moved a"),
            completed("edit[2]", "moved b"),
            completed("edit[3]", "moved c"),
            completed("review", "fine"),
        ]
    );
    let prompts = prompts(&server);
    assert!(prompts.contains_key("Move a {{item}}."), "{prompts:?}");
    let review = prompts.keys().find(|prompt| prompt.starts_with("Review"));
    let review = review.unwrap();
    assert!(
        review.contains("Result of edit[2]:\n```text\nmoved b\n```"),
        "{review}"
    );
}

#[test]
fn a_list_that_is_none_ends_its_map_and_what_needs_it() {
    let stage = Stage::new();
    let report = json!({"status": "SUCCESS", "result": {"files": []}});
    let script = Script::new().on("List", [Turn::tool_call("subagent_finalize", report)]);
    let _server = server(&stage, script);
    let call = json!({"tasks": [
        {"name": "plan", "prompt": "List.", "outputSchema": {"type": "object"}},
        {"name": "edit", "needs": ["plan"], "forEach": "{{plan.structured.files}}", "prompt": "Move {{item}}."},
        {"name": "review", "needs": ["edit"], "prompt": "Review."},
    ]});
    let output = stage.delegate_to("embedded", &call).run();
    assert_eq!(
        outcomes(&output)[1..],
        [
            unbegun("edit", "The list plan.structured.files is empty."),
            unbegun("review", "It needs edit, of which 1 of 1 did not complete."),
        ]
    );
}

#[test]
fn three_hundred_items_and_a_budget_for_less_than_half_of_them() {
    let stage = Stage::new();
    let usage = Usage {
        input: 19_000,
        output: 1_000,
        ..Usage::default()
    };
    let server = server(
        &stage,
        Script::new().otherwise([Turn::text("done").usage(usage)]),
    );
    let items: Vec<usize> = (0..300).collect();
    let call = json!({"tasks": [{"name": "do", "forEach": items, "prompt": "Item {{item}}."}]});
    let limited = ["--concurrency", "8", "--budget-tokens", "2400k"];
    let output = stage.delegate_to("embedded", &call).args(limited).run();
    assert_eq!(output.code, Some(4));
    let done = names(&output, "completed");
    // All that the budget allows, and at most one answer more for each run that was running.
    assert!((120..=128).contains(&done.len()), "{}", done.len());
    assert_eq!(server.requests().len(), done.len());
    let runs = output.json()["runs"].as_array().unwrap().clone();
    let unbegun = runs.iter().filter(|run| run["startedAt"].is_null());
    assert_eq!(unbegun.count(), 300 - done.len());
    let last = runs[299]["errorMessage"].as_str().unwrap().to_owned();
    assert!(
        last.starts_with("The budget of this call is used up ("),
        "{last}"
    );
    let rest = [
        "resume", "last", "--failed", "--runner", "embedded", "--json",
    ];
    let output = stage
        .command(&rest)
        .args(["--budget-tokens", "10m", "--concurrency", "8"])
        .run()
        .expect_success();
    assert_eq!(names(&output, "completed").len(), 300 - done.len());
    let prompts = prompts(&server);
    assert_eq!(prompts.len(), 300);
    assert!(prompts.values().all(|times| *times == 1), "{prompts:?}");
    let nothing = stage.command(&rest).run();
    assert_eq!(nothing.code, Some(2));
    assert_eq!(
        nothing.json()["error"]["message"],
        "all runs of this call have completed"
    );
}

#[test]
fn a_hundred_failures_are_counted_and_the_first_can_end_the_call() {
    let stage = Stage::new();
    let script = Script::new().otherwise([Turn::status(400, "no such thing")]);
    let server = server(&stage, script);
    let items: Vec<usize> = (0..100).collect();
    let call = json!({"tasks": [{"name": "do", "forEach": items, "prompt": "Item {{item}}."}]});
    let run = |more: &[&str]| {
        let delegate = stage.delegate_to("embedded", &call);
        delegate
            .args(["--yes", "--concurrency", "1"])
            .args(more)
            .run()
    };
    let output = run(&[]);
    assert_eq!(
        (output.code, names(&output, "failed").len()),
        (Some(1), 100)
    );
    let before = server.requests().len();
    let output = run(&["--fail-fast"]);
    let reason = "The call begins nothing more after 1 failure.";
    assert_eq!(
        outcomes(&output)[1..3],
        [unbegun("do[2]", reason), unbegun("do[3]", reason)]
    );
    assert_eq!(names(&output, "stopped").len(), 99);
    assert_eq!(server.requests().len(), before + 1);
}

fn the_rest_of_a_call_of_pi_children_is_done_after_a_kill(pi: RealPi) {
    let stage = Stage::new();
    let environment = ("PI_SUBAGENTS_PI", pi.program());
    assert_rest_after_kill(&stage, |command| {
        let command = command.env(environment.0, &environment.1);
        command.env("PI_OFFLINE", "1").args(["--runner", "pi"])
    });
}

#[test]
fn the_rest_of_a_call_of_embedded_children_is_done_after_a_kill() {
    let stage = Stage::new();
    assert_rest_after_kill(&stage, |command| command.args(["--runner", "embedded"]));
}

/// The owner is killed while the second of three tasks is under way: the first is not repeated, and
/// its result is there for the others.
fn assert_rest_after_kill(stage: &Stage, with: impl Fn(SandboxCommand) -> SandboxCommand) {
    let script = Script::new()
        .on("First", [Turn::text("one")])
        .on(
            "Second",
            [Turn::text("never").gate("never"), Turn::text("two")],
        )
        .on("Third", [Turn::text("three")]);
    let server = server(stage, script);
    let call = json!({"tasks": [
        {"name": "a", "prompt": "First."},
        {"name": "b", "needs": ["a"], "prompt": "Second after {{a.output}}."},
        {"name": "c", "needs": ["a", "b"], "prompt": "Third after {{a.output}} and {{b.output}}."},
    ]});
    let command = stage.command(&["delegate", "-"]).stdin(call.to_string());
    let running = with(command).spawn();
    server.wait_for_requests(2, PATIENCE);
    running.kill(Signal::KILL);
    _ = running.wait();
    let runs = wait_until(PATIENCE, || {
        let rows = stage.command(&["status", "--all", "--json"]).run().json();
        let rows = rows["runs"].as_array()?.clone();
        let is_over = |row: &Value| row["status"] != "running" && row["status"] != "queued";
        rows.iter().all(is_over).then_some(rows)
    });
    let runs = runs.unwrap();
    let unbegun = runs.iter().find(|row| row["name"] == "c").unwrap();
    assert_eq!(
        (&unbegun["status"], &unbegun["startedAt"]),
        (&json!("stopped"), &Value::Null)
    );
    let rest = stage.command(&["resume", "a", "--failed", "--json"]);
    let output = with(rest).run().expect_success();
    assert_eq!(
        outcomes(&output),
        [completed("b", "two"), completed("c", "three")]
    );
    let expected = BTreeMap::from([
        ("First.".to_owned(), 1),
        ("Second after one.".to_owned(), 2),
        ("Third after one and two.".to_owned(), 1),
    ]);
    assert_eq!(prompts(&server), expected);
}

#[test]
fn the_rest_of_a_map_over_a_result_has_the_same_items() {
    let stage = Stage::new();
    let report = json!({"status": "SUCCESS", "result": ["x", "y", "z"]});
    let script = Script::new()
        .on("List", [Turn::tool_call("subagent_finalize", report)])
        .on("Do y", [Turn::status(400, "no"), Turn::text("done y")])
        .on("Do", [Turn::text("done"), Turn::text("done")])
        .on("End", [Turn::text("all")]);
    let server = server(&stage, script);
    let call = json!({"tasks": [
        {"name": "plan", "prompt": "List.", "outputSchema": {"type": "array"}},
        {"name": "do", "needs": ["plan"], "forEach": "{{plan.structured}}", "prompt": "Do {{item}}."},
        {"name": "end", "needs": ["do"], "prompt": "End with {{do.output}}"},
    ]});
    let output = stage.delegate_to("embedded", &call).run();
    assert_eq!(names(&output, "completed"), ["plan", "do[1]", "do[3]"]);
    let rest = [
        "resume", "plan", "--failed", "--runner", "embedded", "--json",
    ];
    let output = stage.command(&rest).run().expect_success();
    assert_eq!(
        outcomes(&output),
        [completed("do[2]", "done y"), completed("end", "all")]
    );
    let prompts = prompts(&server);
    assert_eq!(prompts["Do y."], 2);
    let end = prompts
        .keys()
        .find(|prompt| prompt.starts_with("End"))
        .unwrap();
    assert_eq!(end.matches("Result of do[").count(), 3, "{end}");
}

#[test]
fn a_run_of_no_call_and_a_call_under_way_are_no_rest() {
    let stage = Stage::new();
    let script = Script::new()
        .on("Look", [Turn::text("done").gate("go")])
        .otherwise([Turn::text("done").gate("never")]);
    let server = server(&stage, script);
    stage.profile("scout", "model: fake/fake-model", "You look.");
    let run = stage
        .command(&["run", "scout", "Look", "--runner", "embedded"])
        .spawn();
    server.wait_for_requests(1, PATIENCE);
    server.release("go");
    _ = run.wait();
    let refused = stage.command(&["resume", "last", "--failed"]).run();
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .stderr
            .contains("belongs to no call that can be done again"),
        "{refused}"
    );
    let call = json!({"tasks": [{"name": "a", "prompt": "p"}, {"name": "b", "prompt": "q"}]});
    let running = stage.delegate_to("embedded", &call).spawn();
    server.wait_for_requests(3, PATIENCE);
    let refused = stage.command(&["resume", "a", "--failed"]).run();
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("of this call is still running"),
        "{refused}"
    );
    running.kill(Signal::INT);
    _ = running.wait();
}

#[test]
fn results_are_written_for_a_ci_system() {
    let stage = Stage::new();
    let script = Script::new()
        .on("Break", [Turn::status(400, "no such thing")])
        .otherwise([Turn::text("done")]);
    let _server = server(&stage, script);
    let call = json!({"tasks": [
        {"name": "a", "prompt": "Break."},
        {"name": "b", "needs": ["a"], "prompt": "Use it."},
        {"name": "c", "prompt": "Work."},
    ]});
    let delegate = stage.delegate_to("embedded", &call);
    let output = delegate.args(["--junit", "results.xml"]).run();
    assert_eq!(output.code, Some(4));
    let xml = fs::read_to_string(stage.sandbox.project().join("results.xml")).unwrap();
    assert!(
        xml.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""),
        "{xml}"
    );
    let skipped = "<skipped message=\"Not started. It needs a, which did not complete.\"/>";
    assert!(xml.contains(skipped), "{xml}");
    let nowhere = stage.delegate_to("embedded", &call);
    let refused = nowhere.args(["--junit", "none/results.xml"]).run();
    assert_eq!(
        (refused.code, refused.json()["type"].clone()),
        (Some(1), json!("error"))
    );
}

#[test]
fn a_map_goes_to_no_fleet_with_needs() {
    let stage = Stage::new();
    stage.settings(&json!({"fleet": {"servers": ["nats://127.0.0.1:1"]}}));
    let call = json!({"tasks": [
        {"name": "a", "prompt": "p"},
        {"name": "b", "needs": ["a"], "prompt": "p"},
    ]});
    let delegate = stage.delegate_to("embedded", &call).args(["--on", "fleet"]);
    let refused = delegate.run();
    assert_eq!(refused.code, Some(2), "{refused}");
    assert_eq!(
        refused.json()["error"]["message"],
        "tasks that need each other, attempts and stopAfter cannot be sent to a fleet yet"
    );
}
