//! Children of pi's kind that are started before the turn of their runs.

use std::fs;

use pi_subagents_testkit::process::{exists, is_stopped, kill, wait_until_gone};
use pi_subagents_testkit::sandbox::{CommandOutput, RunningCommand};
use pi_subagents_testkit::{Signal, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::background_stage::PATIENCE;
use crate::stage::{Stage, call, completed, outcomes};

/// The steps of a run that holds the only place until somebody lets it go.
fn busy(stage: &Stage) -> Value {
    json!([{"waitForFile": stage.path("go")}, {"reply": "busy"}])
}

/// Starts a call with one place. Each child notes itself and its keeper when it starts, and does this
/// in a shell.
fn one_place(stage: &Stage, tasks: &[(&str, Value)], at_start: &str) -> RunningCommand {
    let starts = stage.path("starts");
    let note = format!(
        "number=$(cat {starts} 2>/dev/null | wc -l); keeper=$(awk '{{print $4}}' /proc/$PPID/stat); \
         echo $PPID $keeper >> {starts}; {at_start}"
    );
    stage
        .delegate(&call(tasks))
        .args(["--concurrency", "1"])
        .env("MISBEHAVE_AT_START", json!([{"shell": note}]).to_string())
        .spawn()
}

/// Returns the children that were started so far, each with its keeper.
fn starts(stage: &Stage) -> Vec<[u32; 2]> {
    let text = fs::read_to_string(stage.path("starts")).unwrap_or_default();
    let line = |line: &str| {
        let mut words = line.split(' ').map(|word| word.parse().unwrap());
        [words.next().unwrap(), words.next().unwrap()]
    };
    text.lines().map(line).collect()
}

fn wait_for_starts(stage: &Stage, number: usize) -> Vec<[u32; 2]> {
    let all = || Some(starts(stage)).filter(|starts| starts.len() == number);
    wait_until(PATIENCE, all)
        .unwrap_or_else(|| panic!("{number} children, not {:?}", starts(stage)))
}

fn let_go(stage: &Stage) {
    fs::write(stage.path("go"), "").unwrap();
}

/// Returns our own lines in the record of a run, each with the child that it names.
fn record(output: &CommandOutput, run: usize) -> Vec<(String, Option<u64>)> {
    let answer = output.json();
    let directory = answer["runs"][run]["directory"].as_str().unwrap();
    let events = fs::read_to_string(format!("{directory}/events.jsonl")).unwrap();
    let lines = events.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        (
            line["type"].as_str().unwrap().to_owned(),
            line["child"].as_u64(),
        )
    });
    let ours = lines.filter(|(kind, _)| kind.starts_with("run_") && kind != "run_at");
    ours.collect()
}

/// The record of a run that was done by this child.
fn done_by(child: u32) -> Vec<(String, Option<u64>)> {
    let line = |kind: &str, child| (kind.to_owned(), child);
    vec![
        line("run_accepted", None),
        line("run_started", Some(child.into())),
        line("run_ended", None),
    ]
}

#[test]
fn the_next_children_wait_for_their_turns_and_their_runs_begin_there() {
    let stage = Stage::new();
    let tasks = [
        ("one", busy(&stage)),
        ("two", json!([{"reply": "2"}])),
        ("three", json!([{"reply": "3"}])),
    ];
    let running = one_place(&stage, &tasks, "true");
    let children = wait_for_starts(&stage, 3);
    let status = stage.command(&["status", "--json"]).run().json();
    assert_eq!(
        (&status["counts"]["running"], &status["counts"]["queued"]),
        (&json!(1), &json!(2))
    );
    let_go(&stage);
    let output = running.wait();
    assert_eq!(
        outcomes(&output),
        [
            completed("one", "busy"),
            completed("two", "2"),
            completed("three", "3")
        ]
    );
    assert_eq!(starts(&stage), children);
    let runs = output.json()["runs"].clone();
    for run in [1, 2] {
        let [before, this] = [&runs[run - 1]["endedAt"], &runs[run]["startedAt"]];
        assert!(before.as_str() <= this.as_str(), "{before} {this}");
        let [(_, accepted), (_, Some(child)), (_, ended)] = &record(&output, run)[..] else {
            panic!("{:?}", record(&output, run));
        };
        assert_eq!((*accepted, *ended), (None, None));
        let known = children
            .iter()
            .any(|[early, _]| u64::from(*early) == *child);
        assert!(known, "{child} is not of {children:?}");
    }
}

/// Does this to the second child when it starts, and returns the children that were needed.
fn with_a_second_child_that(dies: &str) -> Vec<[u32; 2]> {
    let stage = Stage::new();
    let tasks = [("one", busy(&stage)), ("two", json!([{"reply": "2"}]))];
    let running = one_place(
        &stage,
        &tasks,
        &format!("if [ $number = 1 ]; then {dies}; fi"),
    );
    let early = wait_for_starts(&stage, 2)[1];
    // The keeper that is gone has reported everything.
    assert_eq!(wait_until_gone(&early[1..], PATIENCE), Ok(()));
    let_go(&stage);
    let output = running.wait();
    assert_eq!(
        outcomes(&output),
        [completed("one", "busy"), completed("two", "2")]
    );
    assert_eq!(wait_until_gone(&early, PATIENCE), Ok(()));
    let children = starts(&stage);
    assert_eq!(record(&output, 1), done_by(children[2][0]));
    children
}

#[test]
fn an_early_child_that_has_died_is_started_again_in_silence() {
    assert_eq!(with_a_second_child_that("kill -9 $PPID").len(), 3);
}

#[test]
fn an_early_child_whose_keeper_was_killed_is_started_again_in_silence() {
    assert_eq!(with_a_second_child_that("kill -9 $keeper").len(), 3);
}

#[test]
fn a_run_that_is_stopped_before_its_turn_has_not_begun_and_leaves_no_child() {
    let stage = Stage::new();
    let tasks = [("one", busy(&stage)), ("two", json!([{"reply": "2"}]))];
    let running = one_place(&stage, &tasks, "true");
    let early = wait_for_starts(&stage, 2)[1];
    stage.command(&["stop", "two"]).run().expect_success();
    assert_eq!(early.map(exists), [false; 2]);
    let_go(&stage);
    let output = running.wait();
    let found: Vec<String> = outcomes(&output)
        .into_iter()
        .map(|run| run.status)
        .collect();
    assert_eq!(found, ["completed", "stopped"]);
    let kinds: Vec<String> = record(&output, 1)
        .into_iter()
        .map(|(kind, _)| kind)
        .collect();
    assert_eq!(kinds, ["run_accepted", "run_ended"]);
}

#[test]
fn an_owner_that_ends_leaves_no_early_child() {
    for signal in [Signal::INT, Signal::KILL] {
        let stage = Stage::new();
        let tasks = [("one", busy(&stage)), ("two", json!([{"reply": "2"}]))];
        let running = one_place(&stage, &tasks, "true");
        let children = wait_for_starts(&stage, 2).concat();
        running.kill(signal);
        _ = running.wait();
        assert_eq!(wait_until_gone(&children, PATIENCE), Ok(()), "{signal:?}");
    }
}

#[test]
fn a_suspended_owner_has_no_early_child_and_its_run_gets_another_one() {
    let stage = Stage::new();
    let tasks = [("one", busy(&stage)), ("two", json!([{"reply": "2"}]))];
    let running = one_place(&stage, &tasks, "true");
    let early = wait_for_starts(&stage, 2)[1];
    let owner = running.pid();
    running.kill(Signal::TSTP);
    let stopped = wait_until(PATIENCE, || is_stopped(owner).then_some(()));
    assert_eq!((stopped, early.map(exists)), (Some(()), [false; 2]));
    kill(owner, Signal::CONT);
    let_go(&stage);
    assert_eq!(
        outcomes(&running.wait()),
        [completed("one", "busy"), completed("two", "2")]
    );
    assert_eq!(starts(&stage).len(), 3);
}
