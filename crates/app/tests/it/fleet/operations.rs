//! The status that an operator of a fleet sees, and the secrets that the sub-agents of a worker do not
//! get.

use std::fs;

use pi_subagents_testkit::fleet::NatsCluster;
use pi_subagents_testkit::{wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::worker_stage::{PATIENCE, Yard};
use crate::stage::{Stage, call, outcomes};

/// The options of a call to the fleet whose runs need no files.
const ON_FLEET: [&str; 4] = ["--on", "fleet", "--workspace", "none"];

fn status(stage: &Stage) -> Value {
    stage.command(&["status", "--fleet", "--json"]).run().json()
}

#[test]
fn the_status_of_a_fleet_has_what_an_alarm_needs() {
    let yard = Yard::new();
    let stage = yard.caller();
    let script = json!([{"reply": "done"}]).to_string();
    let spawn = stage.command(&["spawn", "--runner", "pi"]);
    spawn.args(ON_FLEET).arg(script).run().expect_success();
    let is_queued = || Some(status(&stage)).filter(|now| now["pools"][0]["queued"] == 1);
    let queued = wait_until(PATIENCE, is_queued).expect("a queued run");
    let pool = &queued["pools"][0];
    assert!(pool["oldestSeconds"].is_u64(), "{queued}");
    assert_eq!(
        (&pool["workers"], &queued["endings"]),
        (&json!([]), &json!({}))
    );
    let _worker = yard.worker("build-7", &[]);
    let has_ended = || Some(status(&stage)).filter(|now| now["endings"]["completed"] == 1);
    let ended = wait_until(PATIENCE, has_ended).expect("an end");
    assert_eq!(ended["begunAgain"], 0, "{ended}");
    assert_eq!(ended["pools"][0]["oldestSeconds"], Value::Null, "{ended}");
    let store = &ended["store"];
    assert!(store["bytes"].as_u64().unwrap() > 0, "{ended}");
    assert_eq!(
        (&store["refusal"], &store["lagging"]),
        (&Value::Null, &json!([]))
    );
}

#[test]
fn a_server_that_is_away_is_named_by_doctor_and_status() {
    let mut cluster = NatsCluster::start();
    let stage = Stage::new();
    stage.settings(&json!({"fleet": {"servers": cluster.urls()}}));
    let init = || {
        let init = ["fleet", "init", "--replicas", "3", "--records", "1"];
        let made = stage.command(&init).run();
        (made.code == Some(0)).then_some(())
    };
    assert!(wait_until(PATIENCE, init).is_some());
    let lagging = |now: &Value| now["store"]["lagging"].as_array().map(Vec::len);
    let is_whole = || Some(status(&stage)).filter(|now| lagging(now) == Some(0));
    assert!(
        wait_until(PATIENCE, is_whole).is_some(),
        "{}",
        status(&stage)
    );
    cluster.kill("n2");
    let is_away = || Some(status(&stage)).filter(|now| lagging(now) == Some(1));
    let away = wait_until(PATIENCE, is_away).expect("a server that is away");
    assert_eq!(away["store"]["lagging"][0]["server"], "n2", "{away}");
    let doctor = stage.command(&["doctor"]).run();
    assert!(doctor.stdout.contains("Server n2 is"), "{doctor}");
}

#[test]
fn a_run_that_is_given_up_is_not_said_to_begin_again() {
    let yard = Yard::with_lease(std::time::Duration::from_secs(4));
    let stage = yard.caller();
    let first = yard.worker("build-7", &[]);
    let script = json!([{"touch": stage.path("begun")}, {"waitForFile": stage.path("go")}]);
    let calling = stage.delegate(&call(&[("review", script)]));
    let calling = calling.args(ON_FLEET).args(["--retries", "0"]).spawn();
    wait_for_file(stage.path("begun"), PATIENCE);
    first.worker.kill(Signal::KILL);
    let _second = yard.worker("build-9", &[]);
    let answered = calling.wait();
    let error = answered.json()["runs"][0]["errorMessage"].to_string();
    assert!(error.contains("its worker was lost"), "{answered}");
    assert!(!answered.stdout.contains("begun again"), "{answered}");
}

#[test]
fn the_seed_of_a_worker_comes_by_standard_input_and_is_in_no_file_that_a_child_can_read() {
    let keys = super::exact_permissions::Keys::of_three();
    let (seed, worker) = keys.start_worker_by_standard_input();
    let script = json!([{"reply": "done"}]);
    let answered = keys.call_as_ada(&call(&[("review", script)]));
    assert_eq!(outcomes(&answered).len(), 1, "{answered}");
    assert_eq!(answered.code, Some(0), "{answered}");
    let pid = worker.pid();
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap();
    assert!(!holds(&environment, &seed));
    for file in crate::stage::files_below(keys.stage.sandbox.root()) {
        let content = fs::read(&file).unwrap_or_default();
        assert!(!holds(&content, &seed), "{}", file.display());
    }
}

/// Returns whether some bytes hold a text.
fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}
