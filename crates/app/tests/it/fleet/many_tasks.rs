//! More work than this machine may have at once goes to a fleet, and with it the caller's choice of a
//! model.

use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::worker_stage::{PATIENCE, Yard};
use crate::stage::{call, completed, outcomes};

/// The options of a call to the fleet whose runs need no files.
const ON_FLEET: [&str; 4] = ["--on", "fleet", "--workspace", "none"];

#[test]
fn a_fleet_takes_more_tasks_than_this_machine_does() {
    let yard = Yard::new();
    let stage = yard.caller();
    let fleet = json!({"servers": [yard.server.url()]});
    stage.settings(&json!({"fleet": fleet, "maxBackground": 1}));
    let _worker = yard.worker("build-7", &["--slots", "6"]);
    let names: Vec<String> = (1..=17).map(|number| format!("task {number}")).collect();
    let task = |name: &String| json!([{"reply": format!("answer of {name}")}]);
    let tasks: Vec<(&str, Value)> = names
        .iter()
        .map(|name| (name.as_str(), task(name)))
        .collect();
    let answered = stage.delegate(&call(&tasks)).args(ON_FLEET).run();
    let expected = names
        .iter()
        .map(|name| completed(name, &format!("answer of {name}")));
    let expected: Vec<_> = expected.collect();
    assert_eq!(outcomes(&answered), expected, "{answered}");
    // The limit for background runs is for those whose children are here.
    let wait = json!([{"waitForFile": stage.path("go")}, {"reply": "done"}]);
    for _ in 0..2 {
        let spawn = stage.command(&["spawn", "--runner", "pi"]);
        let spawned = spawn.args(ON_FLEET).arg(wait.to_string()).run();
        spawned.expect_success();
    }
    let local = stage.command(&["spawn", "--runner", "pi"]);
    local.arg(wait.to_string()).run().expect_success();
    let second = stage.command(&["spawn", "--runner", "pi"]);
    let second = second.arg(wait.to_string()).run();
    assert!(
        second.stderr.contains("subagents.maxBackground"),
        "{second}"
    );
    std::fs::write(stage.path("go"), "").unwrap();
    let are_over = || {
        let listed = stage.command(&["status", "--all", "--json"]).run().json();
        (listed["counts"]["running"] == 0).then_some(())
    };
    assert!(wait_until(PATIENCE, are_over).is_some());
}

#[test]
fn the_default_model_of_the_caller_travels_and_a_worker_without_it_says_so() {
    let yard = Yard::new();
    let stage = yard.caller();
    let file = stage.sandbox.agent_dir().join("settings.json");
    let mut settings: Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    settings["defaultProvider"] = json!("prov2");
    settings["defaultModel"] = json!("other");
    std::fs::write(&file, settings.to_string()).unwrap();
    let _worker = yard.worker("build-7", &[]);
    let delegate = stage.delegate_to("embedded", &call(&[("review", json!("Look."))]));
    let answered = delegate.args(ON_FLEET).run();
    let run = &answered.json()["runs"][0];
    let error = run["errorMessage"].as_str().unwrap_or_default();
    assert_eq!(run["status"], "failed", "{answered}");
    assert!(error.contains("prov2"), "{error}");
}

#[test]
fn a_budget_holds_for_a_call_in_the_fleet() {
    let yard = Yard::new();
    let stage = yard.caller();
    let _worker = yard.worker("build-7", &["--slots", "2"]);
    let task = |words: &str| json!([{"reply": words}]);
    let tasks = [("a", task("one")), ("b", task("two")), ("c", task("three"))];
    let budget = [
        "--budget",
        "nightly",
        "--budget-runs",
        "2",
        "--budget-tokens",
        "100k",
    ];
    let answered = stage
        .delegate(&call(&tasks))
        .args(ON_FLEET)
        .args(budget)
        .run();
    let outcomes = outcomes(&answered);
    let completed = outcomes.iter().filter(|one| one.status == "completed");
    assert_eq!(completed.count(), 2, "{answered}");
    let refused = outcomes.iter().find(|one| one.status == "failed");
    assert_eq!(
        refused.and_then(|one| one.error.as_deref()),
        Some("The budget nightly is used up (2 of 2 runs)"),
        "{answered}"
    );
    // The ledger has the spending from the records, and holds no grant.
    let used: u64 = answered.json()["runs"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|run| run["usage"]["input"].as_u64())
        .sum();
    let shown = stage.command(&["budget", "nightly", "--json"]).run();
    let shown = shown.expect_success().json()["budgets"][0].clone();
    assert!(used > 0, "{answered}");
    assert_eq!(shown["spent"]["input"], used, "{shown:#}");
    let states = shown["runs"].as_array().unwrap().iter();
    let mut states: Vec<&str> = states.filter_map(|run| run["state"].as_str()).collect();
    states.sort_unstable();
    assert_eq!(states, ["ended", "ended", "not started"], "{shown:#}");
}
