//! Orders that are purged from the queue while their runs are running, and entries that somebody
//! has spoilt: every run ends all the same, and can be stopped.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::{process, wait_for_file, wait_until};
use pi_subagents_vocabulary::{RunId, Timestamp};
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::worker_stage::{PATIENCE, WorkerMachine, Yard};
use crate::stage::{Stage, call, completed, outcomes};

/// The options of a call to the fleet whose runs need no files.
const ON_FLEET: [&str; 4] = ["--on", "fleet", "--workspace", "none"];

/// A short lease that a busy machine can still renew in time.
fn yard() -> Yard {
    Yard::with_lease(Duration::from_secs(4))
}

/// Returns a task that makes a file when it begins, waits for another file, and answers.
fn task(stage: &Stage) -> Value {
    json!([{"touch": stage.path("begun")}, {"waitForFile": stage.path("go")}, {"reply": "done"}])
}

/// Throws all orders away, as every caller can.
fn purge(yard: &Yard) {
    let purged = yard.wait(async {
        let client = async_nats::connect(yard.server.url()).await.unwrap();
        let purge = client.request("$JS.API.STREAM.PURGE.PI_WORK", "{}".into());
        purge.await.unwrap().payload
    });
    let answer: Value = serde_json::from_slice(&purged).unwrap();
    assert_eq!(answer["purged"], 1, "{answer}");
}

/// Kills a worker and everything that it has started.
fn kill(machine: &WorkerMachine) {
    let tree = process::descendants(machine.worker.pid());
    machine.worker.kill(Signal::KILL);
    assert_eq!(process::wait_until_gone(&tree, PATIENCE), Ok(()));
}

/// Starts a background run, and waits until it has begun. Returns its id.
fn spawned(stage: &Stage) -> String {
    let spawn = stage.command(&["spawn", "--runner", "pi", "--json"]);
    let spawned = spawn.args(ON_FLEET).arg(task(stage).to_string()).run();
    wait_for_file(stage.path("begun"), PATIENCE);
    let run = spawned.json()["runs"][0]["runId"].clone();
    run.as_str().unwrap().to_owned()
}

/// Kills the process that follows a run.
fn kill_follower(stage: &Stage, run: &str) {
    let directory = stage.sandbox.project().join(".pi/subagents/runs").join(run);
    let meta = fs::read_to_string(directory.join("meta.json")).unwrap();
    let meta: Value = serde_json::from_str(&meta).unwrap();
    let follower = u32::try_from(meta["owner"]["pid"].as_u64().unwrap()).unwrap();
    process::kill(follower, Signal::KILL);
    assert_eq!(process::wait_until_gone(&[follower], PATIENCE), Ok(()));
}

#[test]
fn a_run_whose_order_was_thrown_away_goes_on_when_its_worker_is_lost_too() {
    let yard = yard();
    let stage = yard.caller();
    let first = yard.worker("build-7", &[]);
    let tasks = [("review", task(&stage))];
    let calling = stage.delegate(&call(&tasks)).args(ON_FLEET).spawn();
    wait_for_file(stage.path("begun"), PATIENCE);
    purge(&yard);
    kill(&first);
    let second = yard.worker("build-9", &[]);
    second.worker.wait_for_stderr("attempt 2");
    fs::write(stage.path("go"), "").unwrap();
    let answered = calling.wait();
    let expected = [completed("review", "done")];
    assert_eq!(outcomes(&answered), expected, "{answered}");
    let warnings = answered.json()["warnings"].to_string();
    assert!(warnings.contains("its order is given again"), "{warnings}");
}

#[test]
fn a_run_that_nobody_does_and_whose_order_nobody_has_ends_as_lost_by_name() {
    let yard = yard();
    let stage = yard.caller();
    let machine = yard.worker("build-7", &[]);
    let run = spawned(&stage);
    kill_follower(&stage, &run);
    purge(&yard);
    kill(&machine);
    let row = || {
        let listed = stage.command(&["status", "--all", "--json"]).run().json();
        let row = listed["runs"][0].clone();
        // Its follower may have been killed before it knew that the run has begun.
        let goes_on = row["status"] == "running" || row["status"] == "queued";
        (!goes_on).then_some(row)
    };
    let row = wait_until(PATIENCE, row).expect("an end");
    let error = row["errorMessage"].as_str().unwrap_or_default();
    assert_eq!(row["status"], "failed", "{row}");
    assert!(error.contains("its order is gone from the queue"), "{row}");
    // Everybody in the fleet sees the same end.
    assert_eq!(yard.end_of(&run).status, "failed");
}

#[test]
fn stop_ends_a_run_whose_order_is_gone_and_whose_worker_is_killed() {
    let yard = Yard::new();
    let stage = yard.caller();
    let machine = yard.worker("build-7", &[]);
    let run = spawned(&stage);
    purge(&yard);
    kill(&machine);
    let before = Timestamp::now();
    let stopped = stage.command(&["stop", &run]).run();
    assert_eq!(stopped.code, Some(0), "{stopped}");
    assert_eq!(yard.end_of(&run).status, "stopped");
    let row = stage.command(&["status", "--all", "--json"]).run().json()["runs"][0].clone();
    assert_eq!(row["status"], "stopped", "{row}");
    // It ended when it was stopped, and not with the last words of its worker.
    let ended: Timestamp = row["endedAt"].as_str().unwrap().parse().unwrap();
    assert!(ended >= before - Duration::from_secs(1), "{row}");
}

#[test]
fn stop_ends_a_run_whose_worker_does_not_answer() {
    let yard = Yard::with_lease(PATIENCE);
    let stage = yard.caller();
    let machine = yard.worker("build-7", &[]);
    let run = spawned(&stage);
    process::kill(machine.worker.pid(), Signal::STOP);
    let stopped = stage.command(&["stop", &run]).run();
    assert_eq!(stopped.code, Some(0), "{stopped}");
    assert_eq!(yard.end_of(&run).status, "stopped");
    // When the worker wakes up, it finds that the run has ended, and ends its child.
    process::kill(machine.worker.pid(), Signal::CONT);
    machine.worker.wait_for_stderr("lost");
}

#[test]
fn a_spoilt_entry_does_not_keep_a_run_from_its_end() {
    let yard = yard();
    let stage = yard.caller();
    let machine = yard.worker("build-7", &[]);
    let tasks = [("review", task(&stage))];
    let calling = stage.delegate(&call(&tasks)).args(ON_FLEET).spawn();
    wait_for_file(stage.path("begun"), PATIENCE);
    spoil(&yard);
    fs::write(stage.path("go"), "").unwrap();
    let answered = calling.wait();
    let expected = [completed("review", "done")];
    assert_eq!(outcomes(&answered), expected, "{answered}");
    // The next one has no worker that knows better.
    fs::remove_file(stage.path("begun")).unwrap();
    fs::remove_file(stage.path("go")).unwrap();
    let calling = stage.delegate(&call(&tasks)).args(ON_FLEET).spawn();
    wait_for_file(stage.path("begun"), PATIENCE);
    spoil(&yard);
    kill(&machine);
    let _second = yard.worker("build-9", &[]);
    let answered = calling.wait();
    let run = &answered.json()["runs"][0];
    let error = run["errorMessage"].as_str().unwrap_or_default();
    assert_eq!(run["status"], "failed", "{answered}");
    let named = "its entry in the fleet cannot be read (missing field `state`";
    assert!(error.contains(named), "{error}");
}

/// Spoils the entries of all runs that have not ended, as every caller can.
fn spoil(yard: &Yard) {
    let entries = yard.wait(yard.fleet.entries()).unwrap();
    let open = entries.into_iter().filter(|(_, entry)| {
        use pi_subagents_fleet_queue::wire::RunEntry;
        !matches!(entry, RunEntry::Ended(_))
    });
    let open: Vec<String> = open.map(|(run, _)| run).collect();
    assert_eq!(open.len(), 1, "{open:?}");
    assert!(RunId::parse(&open[0]).is_ok());
    let bucket = yard.fleet.names().runs();
    let garbage = r#"{"garbage":true}"#;
    yard.wait(yard.fleet.overwrite(&bucket, &open[0], garbage.into()))
        .unwrap();
}
