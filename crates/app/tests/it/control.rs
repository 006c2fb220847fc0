//! `steer`, `stop`, `wait` and `status` reach the runs of another process.

use std::time::Duration;

use pi_subagents_testkit::sandbox::RunningCommand;
use pi_subagents_testkit::{Signal, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Outcome, Stage, call, completed, outcomes};

const PATIENCE: Duration = Duration::from_mins(1);

/// A run that waits in its child, and its row in `status`.
fn waiting_run(stage: &Stage, last_steps: &[Value]) -> (RunningCommand, Value) {
    let mut steps = vec![json!({"touch": stage.path("ready")})];
    steps.extend_from_slice(last_steps);
    let owner = stage.delegate(&call(&[("worker", json!(steps))])).spawn();
    wait_for_file(stage.path("ready"), PATIENCE);
    let row = stage.command(&["status", "--json"]).run().json()["runs"][0].clone();
    (owner, row)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn a_run_can_be_stopped_by_the_beginning_of_its_id_and_keeps_what_it_said() {
    let stage = Stage::new();
    let (owner, row) = waiting_run(&stage, &[json!({"say": "so far"}), json!({"hang": true})]);
    assert_eq!(row["status"], "running");
    let session = text(&row["sessionId"]);
    let stopped = stage.command(&["stop", &session[..9]]).run();
    insta::assert_snapshot!(stopped, @"
    --- exit code
    0
    [EOF]
    --- stdout
    stopped worker (session: <session-1>)
    [EOF]
    --- stderr
    [EOF]
    ");
    let output = owner.wait();
    assert_eq!(output.code, Some(143));
    assert_eq!(
        outcomes(&output),
        [Outcome {
            name: "worker".to_owned(),
            status: "stopped".to_owned(),
            exit_code: 143,
            error: Some("Stopped on request.".to_owned()),
            output: Some("so far".to_owned()),
        }]
    );
    let again = stage.command(&["stop", &session]).run();
    assert_eq!(again.stdout, format!("{session} was not running.\n"));
    let all = stage.command(&["stop", "--all"]).run();
    assert_eq!(all.stdout, "Nothing was running.\n");
}

#[test]
fn stop_all_stops_what_runs_and_what_waits() {
    let stage = Stage::new();
    let tasks: Vec<(String, Value)> = (0..6)
        .map(|n| {
            let ready = stage.path(&format!("ready{n}"));
            (format!("t{n}"), json!([{"touch": ready}, {"hang": true}]))
        })
        .collect();
    let tasks: Vec<(&str, Value)> = tasks
        .iter()
        .map(|(name, script)| (name.as_str(), script.clone()))
        .collect();
    let owner = stage.delegate(&call(&tasks)).spawn();
    for n in 0..4 {
        wait_for_file(stage.path(&format!("ready{n}")), PATIENCE);
    }
    let stopped = stage.command(&["stop", "--all", "--json"]).run().json();
    let states: Vec<String> = stopped["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| format!("{} {}", text(&run["status"]), run["exitCode"]))
        .collect();
    assert_eq!(states, ["stopped 143"; 6]);
    let output = owner.wait();
    assert_eq!(output.code, Some(143));
    let found: Vec<String> = outcomes(&output)
        .into_iter()
        .map(|run| run.status)
        .collect();
    assert_eq!(found, ["stopped"; 6]);
}

#[test]
fn a_run_can_be_steered_and_waited_for() {
    let stage = Stage::new();
    let go = stage.path("go");
    let (owner, row) = waiting_run(
        &stage,
        &[json!({"waitForFile": go}), json!({"reply": "done"})],
    );
    let run = text(&row["runId"]);
    let steered = stage.command(&["steer", &run, "go", "left"]).run();
    assert_eq!(steered.stdout, "worker reads it before its next turn.\n");
    let waiting = stage.command(&["wait", &run]).spawn();
    let transcript = std::path::PathBuf::from(text(&row["directory"])).join("events.jsonl");
    wait_until(PATIENCE, || {
        let events = std::fs::read_to_string(&transcript).unwrap_or_default();
        events.contains("steered: go left").then_some(())
    })
    .expect("the child to hear it");
    std::fs::write(go, "").unwrap();
    assert_eq!(outcomes(&owner.wait()), [completed("worker", "done")]);
    let waited = waiting.wait();
    assert_eq!(
        (waited.code, stage.sandbox.normalise(&waited.stdout)),
        (
            Some(0),
            "worker: completed (session: <session-1>)\n".to_owned()
        )
    );
    let late = stage.command(&["steer", &run, "too late"]).run();
    insta::assert_snapshot!(late, @"
    --- exit code
    1
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: worker is not running (run <run-1>)
    hint: Continue it with pi-subagents resume <run-1> PROMPT.
    [EOF]
    ");
}

#[test]
fn wait_exits_as_its_runs_do() {
    let stage = Stage::new();
    let output = stage
        .delegate(&call(&[
            ("good", json!([{"reply": "x"}])),
            ("bad", json!([{"exit": 7}])),
        ]))
        .run();
    assert_eq!(output.code, Some(4));
    let runs = output.json()["runs"].clone();
    let runs = runs.as_array().unwrap().iter();
    let ids: Vec<String> = runs.map(|run| text(&run["sessionId"])).collect();
    let code = |arguments: &[&str]| stage.command(arguments).run().code;
    assert_eq!(code(&["wait", &ids[0]]), Some(0));
    assert_eq!(code(&["wait", &ids[1]]), Some(1));
    assert_eq!(code(&["wait", &ids[0], &ids[1]]), Some(4));
    assert_eq!(code(&["wait", "--any", &ids[1]]), Some(1));
    let told = stage.command(&["wait", &ids[0], &ids[1]]).run();
    insta::assert_snapshot!(told, @"
    --- exit code
    4
    [EOF]
    --- stdout
    good: completed (session: <session-1>)
    bad: failed (session: <session-2>)
    [EOF]
    --- stderr
    bad: The sub-agent exited with code 7.
    [EOF]
    ");
    let rows = stage.command(&["wait", &ids[1], "--json"]).run().json()["runs"].clone();
    assert_eq!(rows[0]["errorMessage"], "The sub-agent exited with code 7.");
}

/// A run whose owner has no socket, because the place for it is a file.
fn unreachable_run(stage: &Stage, last_steps: &[Value]) -> (RunningCommand, String) {
    let mut steps = vec![json!({"touch": stage.path("ready")})];
    steps.extend_from_slice(last_steps);
    let place = stage.sandbox.write("no-directory", "");
    let owner = stage
        .delegate(&call(&[("worker", json!(steps))]))
        .env("XDG_RUNTIME_DIR", &place)
        .spawn();
    wait_for_file(stage.path("ready"), PATIENCE);
    let row = stage.command(&["status", "--json"]).run().json()["runs"][0].clone();
    (owner, text(&row["runId"]))
}

#[test]
fn a_run_whose_owner_cannot_be_reached_is_waited_for_all_the_same() {
    let stage = Stage::new();
    let go = stage.path("go");
    let (owner, run) = unreachable_run(
        &stage,
        &[json!({"waitForFile": go}), json!({"reply": "done"})],
    );
    let steered = stage.command(&["steer", &run, "go left"]).run();
    let pid = owner.pid().to_string();
    insta::assert_snapshot!(steered.to_string().replace(&pid, "PID"), @"
    --- exit code
    1
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: the owner of run <run-1> (pid PID) cannot be reached: it has no socket
    hint: pi-subagents doctor checks the directory of the sockets.
    [EOF]
    ");
    let waiting = stage.command(&["wait", &run]).spawn();
    let following = stage.command(&["events", &run, "--follow"]).spawn();
    following.wait_for_stdout("run_started");
    std::fs::write(go, "").unwrap();
    assert_eq!(outcomes(&owner.wait()), [completed("worker", "done")]);
    assert_eq!(waiting.wait().code, Some(0));
    assert!(following.wait().stdout.contains("run_ended"));
}

#[test]
fn the_death_of_an_owner_that_cannot_be_reached_ends_the_waiting() {
    let stage = Stage::new();
    let (owner, run) = unreachable_run(&stage, &[json!({"hang": true})]);
    let waiting = stage.command(&["wait", &run]).spawn();
    let following = stage.command(&["events", &run, "--follow"]).spawn();
    following.wait_for_stdout("run_started");
    owner.kill(Signal::KILL);
    assert_eq!(waiting.wait().code, Some(1));
    _ = following.wait().expect_success();
}

#[test]
fn wait_returns_when_the_owner_is_killed() {
    let stage = Stage::new();
    let (owner, row) = waiting_run(&stage, &[json!({"hang": true})]);
    let waiting = stage
        .command(&["wait", row["runId"].as_str().unwrap()])
        .spawn();
    owner.kill(Signal::KILL);
    assert_eq!(waiting.wait().code, Some(1));
}

#[test]
fn events_can_be_followed_to_the_end() {
    let stage = Stage::new();
    let go = stage.path("go");
    let (owner, row) = waiting_run(
        &stage,
        &[json!({"waitForFile": go}), json!({"reply": "done"})],
    );
    let following = stage
        .command(&["events", row["runId"].as_str().unwrap(), "--follow"])
        .spawn();
    following.wait_for_stdout("run_started");
    std::fs::write(go, "").unwrap();
    let followed = following.wait();
    let kinds: Vec<Value> = followed
        .json_lines()
        .iter()
        .map(|record| record["type"].clone())
        .collect();
    assert_eq!(kinds.first(), Some(&json!("run_accepted")));
    assert_eq!(kinds.last(), Some(&json!("run_ended")));
    assert!(kinds.contains(&json!("agent_settled")));
    _ = owner.wait().expect_success();
}
