//! Limits of the system: tasks for which there is no room wait, and children get their own limits.

use std::path::Path;
use std::time::Duration;

use pi_subagents_testkit::process::{descendants, file_limit};
use pi_subagents_testkit::sandbox::{RunningCommand, SandboxCommand};
use pi_subagents_testkit::{Signal, bin, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, call, completed, outcomes};

const PATIENCE: Duration = Duration::from_mins(1);

/// `delegate` under a limit that a shell sets first.
fn delegate_under(stage: &Stage, limit: &str, call: &Value) -> SandboxCommand {
    let script = format!("{limit}; exec \"$0\" \"$@\"");
    let program = env!("CARGO_BIN_EXE_pi-subagents");
    stage
        .sandbox
        .command(Path::new("/bin/sh"))
        .env("PI_SUBAGENTS_PI", bin("misbehave"))
        .args([
            "-c", &script, program, "delegate", "-", "--runner", "pi", "--json",
        ])
        .args(["--concurrency", "16"])
        .stdin(call.to_string())
}

#[test]
fn sixteen_tasks_fit_into_64_descriptors_one_after_the_other() {
    let stage = Stage::new();
    let names: Vec<String> = (0..16).map(|number| format!("t{number}")).collect();
    let tasks: Vec<(&str, Value)> = names
        .iter()
        .map(|name| {
            (
                name.as_str(),
                json!([{"stderr": "hm\n"}, {"reply": "done"}]),
            )
        })
        .collect();
    let output = delegate_under(&stage, "ulimit -n 64", &call(&tasks)).run();
    let found = outcomes(&output);
    let failed: Vec<_> = found
        .iter()
        .filter(|run| run.status != "completed")
        .collect();
    assert_eq!((found.len(), failed), (16, Vec::new()), "{output}");
}

#[test]
fn children_have_the_limit_that_their_owner_was_started_with() {
    let stage = Stage::new();
    let ready = stage.path("ready");
    let steps = json!([{"touch": ready}, {"hang": true}]);
    let owner = delegate_under(&stage, "ulimit -S -n 512", &call(&[("a", steps)])).spawn();
    wait_for_file(ready, PATIENCE);
    let misbehave = bin("misbehave").display().to_string();
    let limits: Vec<Option<u64>> = descendants(owner.pid())
        .into_iter()
        .filter(|pid| {
            let line = pi_subagents_testkit::process::command_line(*pid);
            line.is_some_and(|line| line.starts_with(&misbehave))
        })
        .map(file_limit)
        .collect();
    assert_eq!(limits, [Some(512)]);
    assert!(file_limit(owner.pid()) > Some(512));
}

#[test]
fn a_child_that_crashes_leaves_no_image_of_its_keys() {
    let stage = Stage::new();
    let ready = stage.path("ready");
    let steps = json!([{"touch": ready}, {"hang": true}]);
    let owner = delegate_under(&stage, "ulimit -c unlimited", &call(&[("a", steps)])).spawn();
    wait_for_file(ready, PATIENCE);
    let misbehave = bin("misbehave").display().to_string();
    let is_child = |pid: &u32| {
        let line = pi_subagents_testkit::process::command_line(*pid);
        line.is_some_and(|line| line.starts_with(&misbehave))
    };
    let limits: Vec<String> = descendants(owner.pid())
        .into_iter()
        .filter(is_child)
        .map(|pid| {
            let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
            let line = limits.lines().find(|line| line.starts_with("Max core"));
            line.unwrap().split_whitespace().nth(4).unwrap().to_owned()
        })
        .collect();
    assert_eq!(limits, ["0"]);
}

#[test]
fn a_page_with_many_tabs_may_have_as_many_files_open_as_the_system_allows() {
    let stage = Stage::new();
    let program = env!("CARGO_BIN_EXE_pi-subagents");
    let script = "ulimit -S -n 512; exec \"$0\" \"$@\"";
    let page = stage
        .sandbox
        .command(Path::new("/bin/sh"))
        .args(["-c", script, program, "web", "--port", "0"])
        .spawn();
    page.wait_for_stdout("\n");
    assert!(file_limit(page.pid()) > Some(512));
}

/// Returns the words of the row that waits for room, if one does.
fn waiting_row(stage: &Stage) -> Option<String> {
    let rows = stage.command(&["status"]).run().stdout;
    let row = rows.lines().find(|line| line.contains("waits: "));
    row.map(|row| row.trim().to_owned())
}

/// Two owners on a machine for two sub-agents; returns the first one, which has both places.
fn crowded(stage: &Stage) -> RunningCommand {
    stage.settings(&json!({"maxOnMachine": 2}));
    let ready = ["one", "two"].map(|name| stage.path(name));
    let [one, two] = ready
        .each_ref()
        .map(|file| json!([{"touch": file}, {"hang": true}]));
    let first = stage.delegate(&call(&[("one", one), ("two", two)])).spawn();
    for file in ready {
        wait_for_file(file, PATIENCE);
    }
    first
}

const OTHERS: &str = "waits: other runs: your setting subagents.maxOnMachine allows 2 sub-agents at once on this machine";

#[test]
fn owners_share_the_machine_and_a_killed_one_gives_its_places_back() {
    let stage = Stage::new();
    let first = crowded(&stage);
    let second = stage
        .delegate(&call(&[("three", json!([{"reply": "done"}]))]))
        .spawn();
    let row = wait_until(PATIENCE, || waiting_row(&stage));
    assert_eq!(row.as_deref(), Some(OTHERS));
    first.kill(Signal::KILL);
    assert_eq!(outcomes(&second.wait()), [completed("three", "done")]);
    assert_eq!(waiting_row(&stage), None);
}

#[test]
fn who_waits_for_the_machine_can_be_stopped_and_says_why_in_its_lines() {
    let stage = Stage::new();
    let first = crowded(&stage);
    let lines = stage
        .command(&["delegate", "--runner", "pi", "--task", "three=x"])
        .spawn();
    lines.wait_for_stderr("three  waits for: other runs");
    stage.command(&["stop", "three"]).run().expect_success();
    assert_eq!(lines.wait().code, Some(143));
    first.kill(Signal::INT);
    _ = first.wait();
}
