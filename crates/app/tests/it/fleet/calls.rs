//! Calls whose runs work on workers: answers, steering, stopping, and calls without a trace.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::time::Duration;

use pi_subagents_testkit::{wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::fleet_stage::{FleetStage, words_until};
use crate::stage::{Outcome, Stage, call, completed, outcomes};
use crate::terminal::Terminal;

const PATIENCE: Duration = Duration::from_mins(1);

/// The options of a call to the fleet whose runs need no files.
const ON_FLEET: [&str; 4] = ["--on", "fleet", "--workspace", "none"];

#[test]
fn sixteen_tasks_over_two_workers_answer_in_their_order() {
    let fleet = FleetStage::set_up();
    let _workers = [fleet.worker("build-7"), fleet.worker("build-9")];
    let names: Vec<String> = (1..=16).map(|number| format!("task {number}")).collect();
    let tasks: Vec<(&str, Value)> = names
        .iter()
        .map(|name| {
            (
                name.as_str(),
                json!([{"reply": format!("answer of {name}")}]),
            )
        })
        .collect();
    let answered = fleet.stage.delegate(&call(&tasks)).args(ON_FLEET).run();
    let expected: Vec<Outcome> = names
        .iter()
        .map(|name| completed(name, &format!("answer of {name}")))
        .collect();
    assert_eq!(outcomes(&answered), expected, "{answered}");
    // Every reader finds the copies of the records here.
    let listed = fleet
        .stage
        .command(&["status", "--all", "--json"])
        .run()
        .json();
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(16));
    let said = fleet.stage.command(&["output", "last"]).run();
    assert_eq!(said.stdout, "answer of task 16\n");
}

#[test]
fn a_run_is_steered_and_stopped_from_another_process() {
    let fleet = FleetStage::set_up();
    let _worker = fleet.worker("build-7");
    let stage = &fleet.stage;
    let tasks = [
        (
            "steered",
            json!([{"touch": stage.path("steered")}, {"waitForFile": stage.path("go")}, {"reply": "done"}]),
        ),
        (
            "stopped",
            json!([{"touch": stage.path("stopped")}, {"say": "so far"}, {"hang": true}]),
        ),
    ];
    let caller = stage.delegate(&call(&tasks)).args(ON_FLEET).spawn();
    for name in ["steered", "stopped"] {
        wait_for_file(stage.path(name), PATIENCE);
    }
    let steered = stage.command(&["steer", "steered", "be brief"]).run();
    assert_eq!(
        steered.stdout, "steered reads it before its next turn.\n",
        "{steered}"
    );
    let stopped = stage.command(&["stop", "stopped"]).run();
    assert!(
        stopped.stdout.starts_with("stopped stopped (session: "),
        "{stopped}"
    );
    std::fs::write(stage.path("go"), "").unwrap();
    let answered = caller.wait();
    let stopped = Outcome {
        name: "stopped".to_owned(),
        status: "stopped".to_owned(),
        exit_code: 143,
        error: Some("Stopped on request.".to_owned()),
        output: Some("so far".to_owned()),
    };
    assert_eq!(
        outcomes(&answered),
        [completed("steered", "done"), stopped],
        "{answered}"
    );
}

#[test]
fn a_run_without_a_worker_stays_queued_says_so_and_can_be_stopped() {
    let fleet = FleetStage::set_up();
    let stage = &fleet.stage;
    let caller = stage
        .delegate(&call(&[("idle", json!([]))]))
        .args(ON_FLEET)
        .spawn();
    let queued = || {
        let listed = stage.command(&["status", "--json"]).run().json();
        (listed["runs"][0]["status"] == "queued").then_some(())
    };
    wait_until(PATIENCE, queued).expect("a run that is queued");
    let pools = fleet.printed(&["status", "--fleet"]);
    let words =
        |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
    let [head, row, ..] = &pools.lines().map(words).collect::<Vec<_>>()[..] else {
        panic!("{pools}");
    };
    assert_eq!(head, &["POOL", "QUEUED", "OLDEST", "RUNNING", "WORKERS"]);
    // The age of the order differs.
    let row = [&row[..2], &row[3..]].concat();
    assert_eq!(row, ["default", "1", "0", "no", "worker"], "{pools}");
    assert!(pools.ends_with(" kept\nexit 0\n"), "{pools}");
    let stopped = stage.command(&["stop", "idle"]).run();
    assert!(
        stopped.stdout.starts_with("stopped idle (session: "),
        "{stopped}"
    );
    let answered = caller.wait();
    assert_eq!(outcomes(&answered)[0].status, "stopped", "{answered}");
    let warnings = answered.json()["warnings"].to_string();
    assert!(
        warnings.contains("no worker is in pool default"),
        "{warnings}"
    );
}

#[test]
fn a_background_run_goes_on_without_its_caller() {
    let fleet = FleetStage::set_up();
    let _worker = fleet.worker("build-7");
    let stage = &fleet.stage;
    let script = json!([{"touch": stage.path("begun")}, {"waitForFile": stage.path("go")}, {"reply": "done"}]);
    let spawned = stage
        .command(&[
            "spawn",
            "--on",
            "fleet",
            "--workspace",
            "none",
            "--runner",
            "pi",
            "--json",
        ])
        .arg(script.to_string())
        .run();
    let run = spawned.json()["runs"][0]["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    wait_for_file(stage.path("begun"), PATIENCE);
    std::fs::write(stage.path("go"), "").unwrap();
    let waited = stage.command(&["wait", &run]).run();
    assert_eq!(waited.code, Some(0), "{waited}");
    assert_eq!(stage.command(&["output", &run]).run().stdout, "done\n");
}

#[test]
fn a_worker_that_knows_its_callers_takes_signed_orders_only() {
    let fleet = FleetStage::set_up();
    let stage = &fleet.stage;
    let made = stage.command(&["fleet", "key", "caller", "ada", "--json"]);
    let key = made.run().expect_success().json();
    let settings = |nkey: &Value| {
        stage.settings(&json!({
            "fleet": {"servers": [fleet.server.url()], "nkey": nkey},
            "worker": {"callers": [key["publicKey"]]},
        }));
    };
    settings(&key["file"]);
    let _worker = fleet.worker("build-7");
    let task = call(&[("task", json!([{"reply": "done"}]))]);
    let signed = stage.delegate(&task).args(ON_FLEET).run();
    assert_eq!(outcomes(&signed), [completed("task", "done")], "{signed}");
    // Somebody whom the server lets in, without a key.
    stage.settings(&json!({"fleet": {"servers": [fleet.server.url()]}}));
    let unsigned = stage.delegate(&task).args(ON_FLEET).run();
    let error = outcomes(&unsigned)[0].error.clone().unwrap();
    let expected = "its order is not signed, and this worker takes signed orders only";
    assert!(error.contains(expected), "{unsigned}");
}

#[test]
fn the_files_of_a_repository_travel_and_what_was_changed_comes_back() {
    let fleet = FleetStage::with_git();
    let stage = &fleet.stage;
    stage
        .sandbox
        .write("project/notes.txt", "not committed yet\n");
    let dry = fleet.printed(&["run", "x", "--on", "fleet", "--dry-run", "--json"]);
    assert!(dry.contains("1 uncommitted file"), "{dry}");
    let _worker = fleet.worker("build-7");
    // The child goes on only if the file is where it works.
    let script = json!([{"waitForFile": "notes.txt"}, {"touch": "new.txt"}, {"reply": "done"}]);
    let answered = stage
        .delegate(&call(&[("task", script)]))
        .args(["--on", "fleet"])
        .run();
    assert_eq!(
        outcomes(&answered),
        [completed("task", "done")],
        "{answered}"
    );
    let run = answered.json()["runs"][0]["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    let expected = format!("changes: 1 file +0 −0; not merged (pi-subagents merge {run})");
    let text = answered.json()["text"].to_string();
    assert!(text.contains(&expected), "{text}");
    assert!(
        !stage.sandbox.project().join("new.txt").exists(),
        "the checkout was touched"
    );
}

#[test]
fn a_gate_travels_and_judges_the_run_on_its_worker() {
    let fleet = FleetStage::with_git();
    let stage = &fleet.stage;
    let worker = fleet.worker("build-7");
    let gated = |script: Value| {
        let call = stage.delegate(&call(&[("task", script)]));
        let gate = ["--gate", "test -e new.txt", "--gate-retries", "0"];
        call.args(["--on", "fleet"]).args(gate).run()
    };
    let passed = gated(json!([{"touch": "new.txt"}, {"reply": "done"}]));
    assert_eq!(outcomes(&passed), [completed("task", "done")], "{passed}");
    let failed = gated(json!([{"reply": "done"}]));
    let failed_run = &outcomes(&failed)[0];
    assert_eq!(
        (failed_run.status.as_str(), failed_run.exit_code),
        ("failed", 1),
        "{failed}"
    );
    let error = failed_run.error.as_deref().unwrap_or_default();
    assert!(error.contains("test -e new.txt"), "{failed}");
    // The output of the gate has come with the record.
    let run = passed.json()["runs"][0]["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    let runs = stage.sandbox.project().join(".pi/subagents/runs");
    let log = std::fs::read_to_string(runs.join(&run).join("gate-1.log")).unwrap();
    assert!(log.contains("[passed]"), "{log}");
    worker.wait_for_stderr("failed");
}

#[test]
fn a_run_is_named_after_its_worker_while_it_runs_and_cannot_be_stopped_when_it_is_over() {
    let fleet = FleetStage::set_up();
    let _worker = fleet.worker("build-7");
    let stage = &fleet.stage;
    let script = json!([{"touch": stage.path("begun")}, {"waitForFile": stage.path("go")}, {"reply": "done"}]);
    let caller = stage
        .delegate(&call(&[("review", script)]))
        .args(ON_FLEET)
        .spawn();
    wait_for_file(stage.path("begun"), PATIENCE);
    let placed = || {
        let listed = stage.command(&["status", "--json"]).run().json();
        (listed["runs"][0]["worker"] == "build-7").then_some(())
    };
    wait_until(PATIENCE, placed).expect("a run with its worker");
    let table = stage.command(&["status"]).run().stdout;
    assert!(table.contains("review @build-7"), "{table}");
    std::fs::write(stage.path("go"), "").unwrap();
    assert_eq!(outcomes(&caller.wait()), [completed("review", "done")]);
    let late = stage.command(&["stop", "review"]).run();
    assert_eq!(late.stdout, "review was not running.\n", "{late}");
    let listed = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(listed["runs"][0]["status"], "completed", "{listed}");
}

#[test]
fn windows_show_the_words_that_a_model_on_a_worker_is_writing_and_name_the_worker() {
    let fleet = FleetStage::set_up();
    let _worker = fleet.worker("build-7");
    let stage = &fleet.stage;
    let script = words_until(&stage.path("end"));
    let call = call(&[("talker", script)]);
    stage.sandbox.write("project/call.json", &call.to_string());
    let command = stage.command(&["delegate", "call.json", "--runner", "pi"]);
    let terminal = Terminal::start(command.args(ON_FLEET));
    let seen = terminal.wait_for("word▌");
    assert!(seen.contains("talker @build-7"), "{seen}");
    std::fs::write(stage.path("end"), "").unwrap();
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!screen.contains('▌'), "{screen}");
}

#[test]
fn a_fleet_in_the_settings_is_left_alone_by_everything_that_stays_here() {
    let stage = Stage::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let servers = json!([format!("nats://127.0.0.1:{port}")]);
    stage.settings(&json!({"fleet": {"servers": servers}}));
    let script = json!([{"reply": "done"}]);
    let here = stage.delegate(&call(&[("here", script.clone())])).run();
    assert_eq!(outcomes(&here), [completed("here", "done")]);
    let spawn = ["spawn", "--runner", "pi", "--json"];
    let spawned = stage.command(&spawn).arg(script.to_string()).run();
    let id = spawned.json()["runs"][0]["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    for command in [
        &["wait", &id][..],
        &["status", "--all"],
        &["output", "here"],
        &["logs", "here"],
        &["tools"],
    ] {
        stage.command(command).run().expect_success();
    }
    let knocked = listener.accept().map(|(_, from)| from);
    assert!(
        matches!(&knocked, Err(nobody) if nobody.kind() == ErrorKind::WouldBlock),
        "{knocked:?}"
    );
}

#[test]
fn a_caller_reads_that_its_worker_gave_the_run_back() {
    let fleet = FleetStage::set_up();
    let stage = &fleet.stage;
    let first = ["fleet", "work", "--name", "build-7", "--drain", "0"];
    let first = stage.command(&first).spawn();
    first.wait_for_stderr("takes");
    let (begun, go) = (stage.path("begun"), stage.path("go"));
    let script = json!([{"touch": begun}, {"waitForFile": go}, {"reply": "done"}]);
    let run = stage.command(&["run", &script.to_string()]);
    let run = run.args(ON_FLEET).spawn();
    wait_for_file(&begun, PATIENCE);
    first.kill(Signal::TERM);
    run.wait_for_stderr(
        "worker build-7 gave the run back; it is queued until another worker takes it",
    );
    fs::write(&go, "").unwrap();
    let _second = fleet.worker("build-9");
    let done = run.wait().expect_success();
    assert_eq!(done.stdout, "done\n");
}
