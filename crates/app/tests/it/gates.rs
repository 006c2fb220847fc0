//! Gates: commands that must pass before a run counts as completed.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::{Signal, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, asked, call};

for_each_pi! {
    a_sub_agent_mends_what_its_gate_finds,
}

const PATIENCE: Duration = Duration::from_mins(1);

fn stage_with(turns: Vec<Turn>) -> (Stage, LlmServer) {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(turns));
    stage.sandbox.models_json(&server.base_url());
    (stage, server)
}

fn gated(stage: &Stage, arguments: &[&str]) -> Value {
    let call = call(&[("a", json!("Do it."))]);
    let command = stage.delegate_to("embedded", &call).args(arguments);
    command.run().json()["runs"][0].clone()
}

/// Returns the logs of all gate runs.
fn logs(run: &Value) -> Vec<String> {
    let directory = run["directory"].as_str().unwrap();
    let numbers = 1..20;
    let paths = numbers.map(|number| format!("{directory}/gate-{number}.log"));
    paths
        .map_while(|path| fs::read_to_string(path).ok())
        .collect()
}

fn a_sub_agent_mends_what_its_gate_finds(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let (stage, server) = stage_with(vec![
            Turn::text("I am done."),
            Turn::tool_call("write", json!({"path": "ok", "content": "x"})),
            Turn::text("Now I am."),
        ]);
        let call = call(&[("a", json!("Do it."))]);
        let gate = "test -e ok || { echo ok is missing; exit 3; }";
        let output = delegate(pi, &stage, runner, &call).args(["--gate", gate]);
        let run = output.run().json()["runs"][0].clone();
        assert_eq!(
            (&run["status"], &run["output"]),
            (&json!("completed"), &json!("Now I am.")),
            "{runner}: {run}"
        );
        assert_eq!(
            run["receipt"]["gate"],
            json!({"command": gate, "state": "passed", "attempts": 2, "log": "gate-2.log"}),
            "{runner}"
        );
        let told = asked(&server.requests()[1].body);
        assert!(told.contains("failed (exit 3)"), "{runner}: {told}");
        assert!(
            told.contains("```text\nok is missing\n```"),
            "{runner}: {told}"
        );
        let kept: Vec<String> = logs(&run);
        assert_eq!(
            kept,
            [
                format!("$ {gate}\nok is missing\n\n[exit 3]\n"),
                format!("$ {gate}\n\n[passed]\n"),
            ],
            "{runner}"
        );
    }
}

#[test]
fn a_gate_that_passes_at_once_is_not_told() {
    let (stage, server) = stage_with(vec![Turn::text("Done.")]);
    let run = gated(&stage, &["--gate", "true", "--gate", "exit 0"]);
    assert_eq!(run["status"], "completed");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(logs(&run).len(), 2);
}

#[test]
fn a_sub_agent_that_changes_nothing_is_told_once() {
    let (stage, server) = stage_with(vec![Turn::text("Done."); 10]);
    let run = gated(&stage, &["--gate", "exit 9"]);
    assert_eq!(
        (&run["status"], &run["exitCode"], &run["errorMessage"]),
        (
            &json!("failed"),
            &json!(1),
            &json!(
                "The gate `exit 9` still fails after 2 attempts: exit 9, and the sub-agent changed nothing after it was told."
            )
        )
    );
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_sub_agent_is_told_no_more_often_than_it_has_retries() {
    let touch = || Turn::tool_call("bash", json!({"command": "true"}));
    let rounds = (0..10).flat_map(|_| [touch(), Turn::text("Done.")]);
    let (stage, server) = stage_with(rounds.collect());
    let run = gated(&stage, &["--gate", "exit 9", "--gate-retries", "3"]);
    assert_eq!(
        run["errorMessage"],
        "The gate `exit 9` still fails after 4 attempts: exit 9."
    );
    assert_eq!(server.requests().len(), 8);
}

#[test]
fn a_gate_that_cannot_be_run_is_not_told() {
    let (stage, server) = stage_with(vec![Turn::text("Done."); 10]);
    let run = gated(&stage, &["--gate", "no-such-program-here"]);
    assert_eq!(
        run["errorMessage"],
        "The gate `no-such-program-here` failed: exit 127: the command was not found."
    );
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_gate_that_prints_very_much_is_cut_in_its_log_alone() {
    let (stage, _server) = stage_with(vec![Turn::text("Done."); 10]);
    let run = gated(&stage, &["--gate", "yes | head -c 100000000"]);
    assert_eq!(run["status"], "completed");
    let log = &logs(&run)[0];
    assert!(log.len() < 1_100_000, "{}", log.len());
    assert!(log.contains("bytes are left out"));
}

#[test]
fn a_person_reads_how_to_see_what_a_gate_printed() {
    let (stage, _server) = stage_with(vec![Turn::text("Done.")]);
    let gate = "echo why; exit 1";
    let output = stage
        .command(&["run", "Do it.", "--runner", "embedded", "--gate", gate])
        .args(["--gate-retries", "0"])
        .run();
    assert_eq!(output.code, Some(1));
    let mut steps = output.stderr.lines();
    let step = steps.find_map(|line| line.strip_prefix("Read what the gate printed:"));
    let step = step.unwrap_or_else(|| panic!("{}", output.stderr)).trim();
    let log = step.strip_prefix("cat ").unwrap();
    assert_eq!(
        fs::read_to_string(log).unwrap(),
        format!("$ {gate}\nwhy\n\n[exit 1]\n")
    );
}

#[test]
fn a_run_that_is_stopped_during_its_gate_leaves_nothing() {
    let (stage, _server) = stage_with(vec![Turn::text("Done.")]);
    let pid = stage.path("pid");
    let gate = format!("echo $$ > {pid}; exec sleep 600");
    let running = stage
        .delegate_to("embedded", &call(&[("a", json!("Do it."))]))
        .args(["--gate", &gate])
        .spawn();
    wait_for_file(&pid, PATIENCE);
    let status = stage.command(&["status", "--json"]).run().json();
    let run = status["runs"][0]["runId"].as_str().unwrap().to_owned();
    stage.command(&["stop", &run]).run().expect_success();
    let answer = running.wait().json();
    assert_eq!(answer["runs"][0]["errorMessage"], "Stopped on request.");
    expect_gone(&pid);
}

#[test]
fn a_gate_whose_owner_is_killed_ends_with_it() {
    let (stage, _server) = stage_with(vec![Turn::text("Done.")]);
    let pid = stage.path("pid");
    let gate = format!("echo $$ > {pid}; exec sleep 600");
    let running = stage
        .delegate_to("embedded", &call(&[("a", json!("Do it."))]))
        .args(["--gate", &gate])
        .spawn();
    wait_for_file(&pid, PATIENCE);
    running.kill(Signal::KILL);
    _ = running.wait_for_exit();
    expect_gone(&pid);
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(status["runs"][0]["status"], "stopped");
}

fn expect_gone(pid_file: &str) {
    let pid = wait_until(PATIENCE, || {
        let text = fs::read_to_string(pid_file).ok()?;
        (!text.trim().is_empty()).then(|| text.trim().to_owned())
    });
    let process = format!("/proc/{}", pid.unwrap());
    let gone = wait_until(PATIENCE, || (!fs::exists(&process).unwrap()).then_some(()));
    assert!(gone.is_some(), "{process} is still there");
}

#[test]
fn a_definition_names_a_gate_and_a_report_that_did_not_hold_is_forgotten() {
    let report = |result: &str| {
        let arguments = json!({"status": "SUCCESS", "result": result});
        Turn::tool_call("subagent_finalize", arguments)
    };
    let (stage, _server) = stage_with(vec![
        report("first"),
        Turn::tool_call("write", json!({"path": "ok", "content": "x"})),
        report("second"),
    ]);
    stage.profile("tester", "gate: test -e ok\nfinalize: true", "You test.");
    let call = json!({"tasks": [{"name": "a", "prompt": "Do it.", "profile": "tester"}]});
    let answer = stage.delegate_to("embedded", &call).run().json();
    let run = &answer["runs"][0];
    assert_eq!(
        (&run["status"], &run["output"]),
        (&json!("completed"), &json!("second")),
        "{answer}"
    );
}

#[test]
fn a_gate_that_hangs_is_ended_at_its_own_time_limit() {
    let (stage, server) = stage_with(vec![Turn::text("Done."); 10]);
    let pid = stage.path("pid");
    let call = json!({"tasks": [{"name": "a", "prompt": "Do it.", "gate": [
        "true",
        {"command": format!("echo $$ > {pid}; sleep 600 & wait"), "timeout": 5, "retries": 5},
    ]}]});
    let answer = stage.delegate_to("embedded", &call).run().json();
    let error = answer["runs"][0]["errorMessage"].to_string();
    assert!(
        error.contains("failed: it did not end within 5s"),
        "{error}"
    );
    assert_eq!(server.requests().len(), 1);
    expect_gone(&pid);
}

#[test]
fn gates_of_one_checkout_run_one_at_a_time() {
    let (stage, _server) = stage_with(vec![Turn::text("Done."); 4]);
    // The gate of another run would find the directory.
    let gate = "mkdir busy && sleep 0.2 && rmdir busy";
    let tasks = ["a", "b", "c"].map(|name| json!({"name": name, "prompt": "p", "gate": gate}));
    let answer = stage
        .delegate_to("embedded", &json!({"tasks": tasks}))
        .run()
        .json();
    let states = [0, 1, 2].map(|place| answer["runs"][place]["status"].clone());
    assert_eq!(states, ["completed"; 3].map(Value::from), "{answer}");
}

#[test]
fn a_gate_beside_sub_agents_at_work_says_that_its_verdict_may_be_theirs() {
    let stage = Stage::new();
    let script = Script::new()
        .on("first", [Turn::text("Done.")])
        .on("second", [Turn::text("Done too.").gate("hold")]);
    let server = LlmServer::start(script);
    stage.sandbox.models_json(&server.base_url());
    let ran = stage.path("ran");
    // The gate waits until the other sub-agent asks its model.
    let gate = format!("touch {ran}");
    let other = stage
        .delegate_to("embedded", &call(&[("b", json!("second"))]))
        .spawn();
    wait_until(PATIENCE, || (!server.requests().is_empty()).then_some(()));
    let answer = stage
        .delegate_to("embedded", &call(&[("a", json!("first"))]))
        .args(["--gate", &gate])
        .run();
    server.release("hold");
    other.wait().expect_success();
    assert!(
        answer.stderr.contains("its verdict may be theirs"),
        "{}",
        answer.stderr
    );
    assert_eq!(answer.json()["runs"][0]["status"], "completed");
}
