//! Panes of tmux, seen by a stand-in on PATH that writes down its arguments.

use std::fs;

use pi_subagents_testkit::sandbox::SandboxCommand;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::stage::Stage;

/// A stage inside tmux, whose tmux does this after it wrote its arguments down, one per line.
fn inside_tmux(then: &str) -> Stage {
    let stage = Stage::new();
    stage.settings(&json!({"tmux": true}));
    let log = stage.path("asked");
    stage.sandbox.program(
        "tools/tmux",
        &format!("#!/bin/sh\nprintf '%s\\n' \"$@\" -- >> {log}\n{then}\n"),
    );
    let script = json!({"rules": [{"turns": [{"text": "Done."}]}]});
    stage
        .sandbox
        .write("project/talk.json", &script.to_string());
    stage
}

/// Returns the script of a tmux that has these panes and opens one more.
fn with_panes(listed: &str) -> String {
    format!("case $1 in list-panes) echo '{listed}';; *) echo %8;; esac")
}

fn with_tmux(stage: &Stage, command: SandboxCommand) -> SandboxCommand {
    let path = format!("{}:/usr/bin:/bin", stage.path("tools"));
    command
        .env("PATH", path)
        .env("TMUX", "/tmp/tmux-1/default,1,0")
        .env("TMUX_PANE", "%7")
}

fn delegate(stage: &Stage, tasks: &[&str]) -> SandboxCommand {
    let options = [
        "--runner",
        "embedded",
        "--model",
        "scripted/talk.json",
        "--json",
    ];
    let tasks = tasks.iter().flat_map(|task| ["--task", *task]);
    with_tmux(
        stage,
        stage.command(&["delegate"]).args(options).args(tasks),
    )
}

fn asked(stage: &Stage) -> String {
    let asked = fs::read_to_string(stage.path("asked")).unwrap_or_default();
    let binary = env!("CARGO_BIN_EXE_pi-subagents");
    stage.sandbox.normalise(&asked.replace(binary, "$BINARY"))
}

#[test]
fn each_foreground_run_opens_a_pane_that_follows_it() {
    let stage = inside_tmux(&with_panes("%7 50 0 @2\n%8 50 0 @2"));
    let output = delegate(&stage, &["one=Go", "two=Go"])
        .run()
        .expect_success();
    assert_eq!(output.json()["warnings"], json!([]));
    insta::assert_snapshot!(asked(&stage));
}

#[test]
fn a_zoomed_pane_keeps_the_screen_and_the_runs_get_a_window_of_their_own() {
    let stage = inside_tmux(&with_panes("%7 50 1 @2"));
    let output = delegate(&stage, &["one=Go"]).run().expect_success();
    assert_eq!(output.json()["warnings"], json!([]));
    insta::assert_snapshot!(asked(&stage));
}

#[test]
fn panes_that_nobody_could_read_are_said_in_one_line() {
    let stage = inside_tmux(&with_panes("%7 12 0 @2\n%8 12 0 @2"));
    let output = delegate(&stage, &["one=Go", "two=Go", "three=Go"])
        .run()
        .expect_success();
    assert_eq!(
        output.json()["warnings"],
        json!(["tmux had no room for 2 more panes; attach shows all runs"])
    );
}

#[test]
fn a_tmux_that_fails_is_one_warning_and_no_error() {
    let stage = inside_tmux("echo 'no space for new pane' >&2; exit 1");
    let output = delegate(&stage, &["one=Go", "two=Go"])
        .run()
        .expect_success();
    assert_eq!(
        output.json()["warnings"],
        json!(["tmux could not open a pane: no space for new pane"])
    );
}

#[test]
fn no_pane_is_opened_outside_tmux_or_for_a_background_run_or_unasked() {
    let stage = inside_tmux("echo %8");
    delegate(&stage, &["one=Go"])
        .env_remove("TMUX")
        .run()
        .expect_success();
    stage.sandbox.write(
        "home/.pi/agent/subagents/worker.md",
        "---\nname: worker\ndescription: Works.\nmodel: scripted/talk.json\nrunner: embedded\n---\nYou work.\n",
    );
    let spawned = with_tmux(&stage, stage.command(&["spawn", "worker", "Go", "--json"])).run();
    let run = spawned.expect_success().json()["runs"][0]["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    stage.command(&["wait", &run]).run().expect_success();
    stage.settings(&json!({"tmux": false}));
    delegate(&stage, &["two=Go"]).run().expect_success();
    assert_eq!(asked(&stage), "");
}
