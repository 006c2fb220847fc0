//! `spawn`: a run that belongs to a detached process, whatever happens to its caller.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use pi_subagents_testkit::{Signal, process, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use rustix::process::{Pid, kill_process_group};
use serde_json::{Value, json};

use crate::background_stage::{BackgroundStage, PATIENCE, expect_nothing_left, run_id};

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn one_space(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn spawn_returns_while_its_run_goes_on() {
    let stage = BackgroundStage::new();
    let go = stage.path("go");
    let script = json!([{"waitForFile": go}, {"reply": "found it"}]).to_string();
    let spawned = stage.command(&["spawn", "worker", &script]).run();
    insta::assert_snapshot!(spawned);
    let status = wait_until(PATIENCE, || {
        let status = stage.command(&["status", "--json"]).run().json();
        (status["counts"]["running"] == 1).then_some(status)
    });
    let status = status.expect("the run to have its place");
    assert_eq!(
        status["counts"],
        json!({"running": 1, "queued": 0, "completed": 0, "failed": 0, "stopped": 0, "total": 1})
    );
    let run = text(&status["runs"][0]["runId"]);
    fs::write(&go, "").unwrap();
    let waited = stage.command(&["wait", &run]).run();
    assert_eq!(waited.code, Some(0));
    let mut row = stage.row(&run);
    row["ownerPid"] = json!("PID");
    insta::assert_snapshot!(stage.normal(&row));
    let output = stage.command(&["output", &run]).run();
    assert_eq!(output.stdout, "found it\n");
    let shown = stage.command(&["status", &run]).run().stdout;
    // Columns are as wide as their contents.
    let words: Vec<String> = stage.normalise(&shown).lines().map(one_space).collect();
    insta::assert_snapshot!(words.join("\n"));
    expect_nothing_left(&run);
}

#[test]
fn one_run_has_one_json() {
    let stage = BackgroundStage::new();
    let mut spawned = stage.spawn(&json!([{"touch": stage.path("ready")}, {"hang": true}]));
    let run = run_id(&spawned);
    wait_for_file(stage.path("ready"), PATIENCE);
    let running = wait_until(PATIENCE, || {
        let row = stage.row(&run);
        (row["status"] == "running").then_some(row)
    });
    let mut running = running.expect("the run to have its place");
    spawned["status"] = json!("running");
    // These fields are there only once the run has begun.
    for later in ["startedAt", "usage", "toolCalls"] {
        let removed = running.as_object_mut().unwrap().remove(later);
        assert!(removed.is_some(), "{later}: {running}");
    }
    // More files are there by now.
    for row in [&mut running, &mut spawned] {
        row.as_object_mut().unwrap().remove("artifacts");
    }
    assert_eq!(running, spawned);
    let stopped = stage.command(&["stop", &run, "--json"]).run().json();
    let over = stage.row(&run);
    assert_eq!(stopped["runs"], json!([over]));
    let waited = stage.command(&["wait", &run, "--json"]).run().json();
    assert_eq!(waited["runs"], json!([over]));
    assert_eq!(over["status"], "stopped");
}

#[test]
fn spawn_json_has_ids_status_artifacts_and_counts() {
    let stage = BackgroundStage::new();
    let script = json!([{"hang": true}]).to_string();
    let spawn = stage.command(&["spawn", "worker", &script, "--json"]);
    let printed = spawn.run().expect_success().json();
    assert_eq!(
        printed["backgroundCounts"],
        json!({"running": 1, "queued": 0, "completed": 0, "failed": 0, "stopped": 0, "total": 1})
    );
    assert_eq!(printed["warnings"], json!([]));
    let mut spawned = printed["runs"][0].clone();
    spawned["ownerPid"] = json!("PID");
    insta::assert_snapshot!(stage.normal(&spawned));
    let meta: Value = serde_json::from_str(
        &fs::read_to_string(spawned["artifacts"]["meta"].as_str().unwrap()).unwrap(),
    )
    .unwrap();
    assert_eq!(meta["owner"]["detached"], json!({}));
    assert_eq!(meta["preset"], "worker");
}

#[test]
fn the_run_outlives_the_death_of_everything_around_its_caller() {
    let stage = BackgroundStage::new();
    let (go, spawned) = (stage.path("go"), stage.path("spawned"));
    let script = json!([{"waitForFile": go}, {"reply": "alone"}]).to_string();
    let shell = format!(
        "\"$0\" spawn worker \"$1\" --json > {spawned}.part && mv {spawned}.part {spawned}; sleep 1000"
    );
    let arguments = ["-c", &shell, env!("CARGO_BIN_EXE_pi-subagents"), &script];
    let mut caller = stage
        .stage
        .sandbox
        .command(Path::new("/bin/sh"))
        .args(arguments)
        .env("PI_SUBAGENTS_PI", pi_subagents_testkit::bin("misbehave"))
        .std_command()
        .process_group(0)
        .spawn()
        .unwrap();
    wait_for_file(&spawned, PATIENCE);
    let run = run_id(&serde_json::from_str(&fs::read_to_string(&spawned).unwrap()).unwrap());
    let group = Pid::from_raw(i32::try_from(caller.id()).unwrap()).unwrap();
    kill_process_group(group, Signal::KILL).unwrap();
    caller.wait().unwrap();
    // A terminal that goes away, too.
    process::kill(stage.owner(&run), Signal::HUP);
    fs::write(&go, "").unwrap();
    let row = stage.ended(&run);
    assert_eq!(
        (&row["status"], &row["output"]),
        (&json!("completed"), &json!("alone"))
    );
    expect_nothing_left(&run);
}

#[test]
fn a_detached_process_that_is_killed_leaves_a_failed_run_and_nothing_else() {
    let stage = BackgroundStage::new();
    let ready = stage.path("ready");
    let spawned = stage.spawn(&json!([{"say": "so far"}, {"touch": ready}, {"hang": true}]));
    let run = run_id(&spawned);
    wait_for_file(&ready, PATIENCE);
    let events = Path::new(&text(&spawned["directory"])).join("events.jsonl");
    let is_recorded = || fs::read_to_string(&events).is_ok_and(|text| text.contains("so far"));
    wait_until(PATIENCE, || is_recorded().then_some(())).unwrap();
    process::kill(stage.owner(&run), Signal::KILL);
    let waited = stage.command(&["wait", &run]).run();
    assert_eq!(waited.code, Some(1));
    let row = stage.row(&run);
    assert_eq!(row["status"], "failed");
    assert_eq!(
        row["errorMessage"],
        "Lost the sub-agent: owner process exited."
    );
    assert_eq!(row["output"], "so far");
    expect_nothing_left(&run);
    let resumed = stage
        .command(&["resume", &run, r#"[{"reply": "again"}]"#, "--json"])
        .run()
        .expect_success();
    assert_eq!(resumed.json()["runs"][0]["output"], "again");
}

#[test]
fn a_detached_process_that_is_told_to_end_ends_its_run_in_order() {
    let stage = BackgroundStage::new();
    let ready = stage.path("ready");
    let run = run_id(&stage.spawn(&json!([{"touch": ready}, {"hang": true}])));
    wait_for_file(&ready, PATIENCE);
    process::kill(stage.owner(&run), Signal::TERM);
    let row = stage.ended(&run);
    assert_eq!(
        (&row["status"], &row["exitCode"]),
        (&json!("stopped"), &json!(143))
    );
    expect_nothing_left(&run);
}

#[test]
fn a_background_run_is_steered_followed_and_stopped_like_any_other() {
    let stage = BackgroundStage::new();
    let ready = stage.path("ready");
    let spawned = stage.spawn(&json!([{"say": "listening"}, {"touch": ready}, {"hang": true}]));
    let run = run_id(&spawned);
    wait_for_file(&ready, PATIENCE);
    let following = stage.command(&["events", &run, "--follow"]).spawn();
    let steered = stage.command(&["steer", &run, "to the left"]).run();
    assert_eq!(steered.stdout, "worker reads it before its next turn.\n");
    let stopped = stage.command(&["stop", &run]).run();
    assert_eq!(
        stage.normalise(&stopped.stdout),
        "stopped worker (session: <session-1>)\n"
    );
    let row = stage.row(&run);
    assert_eq!(
        (&row["status"], &row["errorMessage"]),
        (&json!("stopped"), &json!("Stopped on request."))
    );
    let followed = following.wait().json_lines();
    assert_eq!(followed.last().unwrap()["type"], "run_ended");
    let session = stage.command(&["session", &run]).run().expect_success();
    assert!(session.stdout.contains("listening"), "{session}");
    expect_nothing_left(&run);
}

#[test]
fn beyond_the_limit_a_run_is_refused_with_the_counts() {
    let stage = BackgroundStage::new();
    stage.settings(&json!({"maxBackground": 3}));
    let script = json!([{"hang": true}]).to_string();
    let spawning: Vec<_> = (0..8)
        .map(|_| {
            stage
                .command(&["spawn", "worker", &script, "--json"])
                .stdin("")
                .spawn()
        })
        .collect();
    let outputs: Vec<_> = spawning.into_iter().map(|running| running.wait()).collect();
    let (taken, refused): (Vec<_>, Vec<_>) = outputs
        .into_iter()
        .partition(|output| output.code == Some(0));
    assert_eq!((taken.len(), refused.len()), (3, 5));
    insta::assert_snapshot!(refused[0]);
    let status = stage.command(&["status", "--json"]).run().json();
    assert_eq!(status["counts"]["total"], 3);
    let run = run_id(&taken[0].json());
    _ = stage.command(&["stop", &run]).run().expect_success();
    stage.spawn(&json!([{"hang": true}]));
}

#[test]
fn what_cannot_be_started_is_an_error_and_no_run() {
    let stage = BackgroundStage::new();
    let unknown = stage.command(&["spawn", "-a", "nobody", "hello"]).run();
    insta::assert_snapshot!(unknown);
    let empty = stage.command(&["spawn", "worker", "-"]).stdin(" \n").run();
    insta::assert_snapshot!(empty);
    let several = stage
        .command(&["spawn", "--file", "-"])
        .stdin(r#"{"tasks": [{"preset": "worker", "task": "x"}]}"#)
        .run();
    insta::assert_snapshot!(several);
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(status["counts"]["total"], 0);
}

#[test]
fn a_refused_task_is_an_error_of_spawn_and_leaves_no_run() {
    let stage = BackgroundStage::new();
    let refused = stage
        .command(&["spawn", "worker", "x", "--cwd", "/nowhere/at/all"])
        .run();
    insta::assert_snapshot!(refused);
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(status["runs"], json!([]));
}

#[test]
fn files_that_cannot_grow_never_prevent_the_result() {
    let stage = BackgroundStage::new();
    let script = json!([{"messages": {"count": 100, "bytes": 1000}}, {"reply": "the end"}]);
    let spawned = stage
        .stage
        .sandbox
        .command(Path::new("/bin/bash"))
        .args(["-c", "ulimit -f 32; exec \"$0\" spawn worker - --json"])
        .arg(env!("CARGO_BIN_EXE_pi-subagents"))
        .env("PI_SUBAGENTS_PI", pi_subagents_testkit::bin("misbehave"))
        .stdin(script.to_string())
        .run()
        .expect_success();
    let run = run_id(&spawned.json());
    let row = stage.ended(&run);
    assert_eq!(
        (&row["status"], &row["output"]),
        (&json!("completed"), &json!("the end"))
    );
    let events = fs::metadata(text(&row["artifacts"]["events"])).unwrap();
    assert!(events.len() <= 32 << 10, "{}", events.len());
}

#[test]
fn without_a_record_nothing_runs() {
    let stage = BackgroundStage::new();
    let sandbox = &stage.stage.sandbox;
    sandbox.write("project/.pi/subagents/runs/.gitignore", "*\n");
    let output = sandbox
        .command(Path::new("/bin/bash"))
        .args(["-c", "ulimit -f 0; exec \"$0\" spawn worker hello"])
        .arg(env!("CARGO_BIN_EXE_pi-subagents"))
        .env("PI_SUBAGENTS_PI", pi_subagents_testkit::bin("misbehave"))
        .run();
    assert_eq!(output.code, Some(1));
    let why =
        "error: a background run must be recorded: worker: the record of this run is incomplete";
    assert!(output.stderr.starts_with(why), "{}", output.stderr);
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(status["counts"]["total"], 0);
}

#[test]
fn status_is_watched_until_the_run_is_over() {
    let stage = BackgroundStage::new();
    let go = stage.path("go");
    let run = run_id(&stage.spawn(&json!([{"waitForFile": go}, {"reply": "done"}])));
    let watching = stage
        .command(&["status", &run, "--watch", "--json"])
        .spawn();
    watching.wait_for_stdout("\"status\":\"running\"");
    fs::write(&go, "").unwrap();
    let watched = watching.wait();
    let mut states: Vec<Value> = watched
        .json_lines()
        .iter()
        .map(|seen| seen["runs"][0]["status"].clone())
        .collect();
    // It may have been seen before it had its place.
    states.retain(|status| status != "queued");
    assert_eq!(
        (watched.code, states),
        (Some(0), vec![json!("running"), json!("completed")])
    );
}

#[test]
fn a_watched_run_whose_owner_is_killed_is_seen_to_fail() {
    let stage = BackgroundStage::new();
    let run = run_id(&stage.spawn(&json!([{"hang": true}])));
    let watching = stage
        .command(&["status", &run, "--watch", "--json"])
        .spawn();
    watching.wait_for_stdout("\"status\":\"running\"");
    process::kill(stage.owner(&run), Signal::KILL);
    let last = watching.wait().json_lines().pop().unwrap();
    assert_eq!(last["counts"]["failed"], 1);
}

#[test]
fn a_background_run_continues_a_session() {
    let stage = BackgroundStage::new();
    stage.talker(0);
    let say = |words: &str| {
        let arguments = ["spawn", "talker", words, "--session", "talk", "--json"];
        stage.command(&arguments).run().expect_success().json()
    };
    let first = say("one");
    assert_eq!(
        first["warnings"],
        json!(["There was no session `talk` of this preset in this directory; it is new."])
    );
    assert_eq!(stage.ended(&run_id(&first))["output"], "You said: one");
    let second = say("two");
    assert_eq!(
        (&second["runs"][0]["sessionId"], &second["warnings"]),
        (&json!("talk"), &json!([]))
    );
    assert_eq!(stage.ended(&run_id(&second))["output"], "You said: two");
    let status = stage.command(&["status", "talk", "--json"]).run().json();
    assert_eq!(status["counts"]["completed"], 2);
}
