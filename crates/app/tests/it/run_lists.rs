//! Lists of runs: the output of `status` and `wait`, its order, and its look on a terminal.

use std::fs;

use pi_subagents_testkit::{Signal, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::background_stage::{BackgroundStage, PATIENCE, run_id};
use crate::stage::{Stage, call};
use crate::terminal::Terminal;

fn names(status: &Value) -> Vec<String> {
    let runs = status["runs"].as_array().unwrap().iter();
    runs.map(|run| run["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_run_without_a_place_is_queued() {
    let stage = Stage::new();
    let ready = stage.path("ready");
    let busy = json!([{"touch": ready}, {"hang": true}]);
    let tasks = call(&[("busy", busy), ("next", json!([{"reply": "x"}]))]);
    let arguments = ["delegate", "-", "--runner", "pi", "--concurrency", "1"];
    let delegated = stage.command(&arguments).stdin(tasks.to_string()).spawn();
    wait_for_file(&ready, PATIENCE);
    // The child is there before its owner has written that it is.
    let status = wait_until(PATIENCE, || {
        let status = stage.command(&["status", "--json"]).run().json();
        (status["counts"]["running"] == 1).then_some(status)
    })
    .expect("the busy run counts as running");
    assert_eq!(
        status["counts"],
        json!({"running": 1, "queued": 1, "completed": 0, "failed": 0, "stopped": 0, "total": 2})
    );
    let seen = ["busy", "next"].map(|name| {
        let runs = status["runs"].as_array().unwrap();
        let run = runs.iter().find(|run| run["name"] == name).unwrap();
        (run["status"].clone(), run.get("startedAt").is_some())
    });
    assert_eq!(seen, [(json!("running"), true), (json!("queued"), false)]);
    let shown = stage.command(&["status"]).run().stdout;
    let counts = "1 running, 1 queued, 0 completed, 0 failed, 0 stopped\n";
    assert!(shown.starts_with(counts), "{shown}");
    delegated.kill(Signal::INT);
    _ = delegated.wait();
}

#[test]
fn runs_are_filtered_sorted_and_added_up() {
    let stage = Stage::new();
    for (name, script) in [
        ("plan", json!([{"reply": "x"}])),
        ("bad", json!([{"exit": 7}])),
        ("Again", json!([{"reply": "y"}])),
    ] {
        _ = stage.delegate(&call(&[(name, script)])).run();
    }
    let list = |arguments: &[&str]| {
        let command = stage.command(&["status", "--json"]).args(arguments);
        command.run().expect_success().json()
    };
    for (arguments, expected) in [
        (&["--all"][..], &["Again", "bad", "plan"][..]),
        (&["--limit", "2"], &["Again", "bad"]),
        (&["--all", "--sort", "name"], &["Again", "bad", "plan"]),
        (&["--all", "--sort", "status"], &["bad", "Again", "plan"]),
        (&["--failed"], &["bad"]),
        (&["--since", "1h", "--failed"], &["bad"]),
        (&["--since", "2020-01-01", "--limit", "1"], &["Again"]),
        (&["--since", "2200-01-01"], &[]),
        (&[], &[]),
    ] {
        assert_eq!(names(&list(arguments)), expected, "{arguments:?}");
    }
    let limited = list(&["--limit", "1"]);
    // A limit shortens the list, not the counts.
    assert_eq!(limited["counts"]["total"], 3);
    assert_eq!(limited["totals"]["runs"], 3);
    let failed = list(&["--failed"]);
    assert_eq!(failed["counts"]["failed"], 1);
    assert_eq!(failed["counts"]["completed"], 0);
    let wrong = stage.command(&["status", "--since", "yesterday"]).run();
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("such as 30m, 2h, 3d or 1w"),
        "{wrong}"
    );
}

#[test]
fn the_index_knows_what_runs_used_after_their_records_are_gone() {
    let stage = BackgroundStage::new();
    stage.talker(0);
    let talk = ["run", "talker", "hello", "--json"];
    _ = stage.command(&talk).run().expect_success();
    let before = stage.command(&["status", "--all", "--json"]).run().json();
    let used = before["runs"][0]["usage"].clone();
    assert!(used["input"].as_u64() > Some(0), "{before}");
    assert_eq!(before["totals"]["usage"], used);
    fs::remove_dir_all(before["runs"][0]["directory"].as_str().unwrap()).unwrap();
    let after = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(after["runs"][0]["usage"], used);
    assert_eq!(after["totals"], before["totals"]);
}

#[test]
fn a_terminal_has_headings_and_lines_that_fit() {
    let stage = BackgroundStage::new();
    let long = "日本語の調査をする".repeat(4);
    _ = stage
        .stage
        .delegate(&call(&[
            (&long, json!([{"reply": "x"}])),
            ("short", json!([{"exit": 7}])),
        ]))
        .run();
    let listed = stage.command(&["status", "--all", "--json"]).run().json();
    let session = listed["runs"][0]["sessionId"].as_str().unwrap().to_owned();
    for columns in [60, 80, 120, 200] {
        let command = stage.command(&["status", "--all"]);
        let (code, screen) = Terminal::start_with(command, columns).end();
        assert_eq!(code, Some(0));
        assert!(screen.contains("\nNAME"), "{screen}");
        assert!(screen.contains(&session), "{screen}");
        // Two runs, the counts, the headings and the totals: no line was broken.
        assert_eq!(screen.lines().count(), 7, "{screen}");
        assert_eq!(screen.contains(" TASK"), columns >= 120, "{screen}");
    }
    let (_, one) = Terminal::start_with(stage.command(&["status", &session]), 60).end();
    assert!(one.contains("   session   "), "{one}");
    assert!(one.contains("pi-subagents logs "), "{one}");
}

#[test]
fn wait_says_on_a_terminal_what_it_waits_for() {
    let stage = BackgroundStage::new();
    let go = stage.path("go");
    let run = run_id(&stage.spawn(&json!([{"waitForFile": go}, {"reply": "found it"}])));
    let terminal = Terminal::start_with(stage.command(&["wait", &run]), 100);
    terminal.wait_for("Waiting for worker • ");
    fs::write(&go, "").unwrap();
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0));
    // The line is gone, and the table is in its place.
    assert!(!screen.contains("Waiting"), "{screen}");
    assert!(screen.starts_with("NAME"), "{screen}");
    assert!(screen.contains("✓  worker  completed"), "{screen}");
}

#[test]
fn a_watched_list_tells_when_a_queued_run_gets_its_place() {
    let stage = Stage::new();
    let (ready, go) = (stage.path("ready"), stage.path("go"));
    let busy = json!([{"touch": ready}, {"waitForFile": go}, {"reply": "x"}]);
    let tasks = call(&[("busy", busy), ("next", json!([{"hang": true}]))]);
    let arguments = ["delegate", "-", "--runner", "pi", "--concurrency", "1"];
    let delegated = stage.command(&arguments).stdin(tasks.to_string()).spawn();
    wait_for_file(&ready, PATIENCE);
    let watching = stage.command(&["status", "--watch", "--json"]).spawn();
    watching.wait_for_stdout("\"queued\":1");
    fs::write(&go, "").unwrap();
    let seen = wait_until(PATIENCE, || {
        let last = watching.stdout().lines().last()?.to_owned();
        let last: Value = serde_json::from_str(&last).ok()?;
        let is_next_running = last["counts"]["running"] == 1 && last["counts"]["completed"] == 1;
        is_next_running.then_some(())
    });
    assert!(seen.is_some(), "{}", watching.stdout());
    delegated.kill(Signal::INT);
    _ = delegated.wait();
    watching.kill(Signal::INT);
    _ = watching.wait();
}
