//! Servers whose storage is full: a waiting call warns its caller, `doctor` reports it, and nothing is
//! lost.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::wait_for_file;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::worker_stage::{PATIENCE, Yard};
use crate::stage::{call, completed, outcomes};

/// The options of a call to the fleet whose runs need no files.
const ON_FLEET: [&str; 4] = ["--on", "fleet", "--workspace", "none"];

#[test]
fn a_full_store_is_said_in_the_call_and_by_doctor_and_loses_nothing() {
    let mut yard = Yard::with_lease(Duration::from_secs(6));
    let stage = yard.caller();
    let _worker = yard.worker("build-7", &[]);
    let (begun, go) = (stage.path("begun"), stage.path("go"));
    let script = json!([{"touch": begun}, {"waitForFile": go}, {"reply": "made"}]);
    let calling = stage.delegate(&call(&[("review", script)])).args(ON_FLEET);
    let calling = calling.spawn();
    wait_for_file(stage.path("begun"), PATIENCE);
    let check = || {
        let report = stage.command(&["doctor", "--json"]).run().json();
        let checks = report["checks"].as_array().unwrap().clone();
        let mut fleet = checks.into_iter().filter(|one| one["name"] == "fleet");
        fleet.next().unwrap()
    };
    let before = check();
    assert_eq!(before["mark"], "ok", "{before}");
    assert!(before["text"].to_string().contains("keeps "), "{before}");
    yard.server.restart_with_room("1K");
    fs::write(stage.path("go"), "").unwrap();
    calling.wait_for_stderr("the store of the fleet is full");
    let full = check();
    assert_eq!(full["mark"], "problem", "{full}");
    assert!(
        full["hints"].to_string().contains("The store is full"),
        "{full}"
    );
    let status: Value = stage.command(&["status", "--fleet", "--json"]).run().json();
    assert!(status["store"]["refusal"].is_string(), "{status}");
    yard.server.restart_with_room("50G");
    let answered = calling.wait();
    let expected = [completed("review", "made")];
    assert_eq!(outcomes(&answered), expected, "{answered}");
}
