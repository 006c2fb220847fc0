//! A process that holds a lock of ours keeps nobody from working.

use std::fs::{self, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::background_stage::{BackgroundStage, run_id};
use crate::stage::{Stage, completed};
use crate::subagent_stage::SubagentStage;
use pi_subagents_testkit::llm::{Script, Turn};

/// Makes a file and holds its lock for as long as the result lives.
fn hold(path: &Path) -> File {
    let file = File::create(path).unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn a_held_lock_of_background_runs_delays_and_is_named() {
    let background = BackgroundStage::new();
    let agent_dir = background.stage.sandbox.agent_dir();
    let _held = hold(&agent_dir.join("subagents-background.lock"));
    let script = json!([{"reply": "done"}]).to_string();
    let spawn = background.command(&["spawn", "worker", &script, "--json"]);
    let spawned = spawn.run().expect_success().json();
    let warnings = spawned["warnings"].to_string();
    assert!(
        warnings.contains("subagents-background.lock is locked by "),
        "{spawned}"
    );
    let row = background.ended(&run_id(&spawned));
    assert_eq!(row["status"], "completed");
}

#[test]
fn owners_listen_although_somebody_holds_the_directory_of_sockets() {
    let stage = Stage::new();
    let sockets = stage.sandbox.runtime_dir().join("pi-subagents");
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&sockets)
        .unwrap();
    let directory = File::open(&sockets).unwrap();
    directory.lock().unwrap();
    let ready = stage.path("ready");
    let script = json!([{"touch": ready}, {"hang": true}]);
    let owner = stage
        .delegate(&crate::stage::call(&[("a", script)]))
        .spawn();
    pi_subagents_testkit::wait_for_file(&ready, std::time::Duration::from_mins(1));
    _ = stage.command(&["stop", "--all"]).run().expect_success();
    assert_eq!(owner.wait().code, Some(143));
    let outcome = stage.outcomes(&[("b", json!([{"reply": "hello"}]))]);
    assert_eq!(outcome, [completed("b", "hello")]);
}

#[test]
fn a_decision_about_trust_names_who_holds_its_lock() {
    let stage = Stage::new();
    stage.sandbox.write(
        "project/.pi/agents/plain.md",
        "---\nname: plain\n---\nYou are plain.\n",
    );
    let trust = || stage.command(&["trust", "--yes"]).run();
    let agent_dir = stage.sandbox.agent_dir();
    _ = trust().expect_success();
    let mut locks = fs::read_dir(agent_dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let lock = locks
        .find(|path| path.extension().is_some_and(|end| end == "lock"))
        .unwrap();
    let held = hold(&lock);
    let refused = trust();
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains(".lock is locked by "), "{refused}");
    drop(held);
    _ = trust().expect_success();
}

#[test]
fn a_shared_session_has_no_lock_beside_it_when_its_run_is_over() {
    let subagent =
        SubagentStage::new(Script::new().otherwise([Turn::text("one"), Turn::text("two")]));
    subagent.preset("scout");
    for task in ["first", "second"] {
        _ = subagent.say("embedded", "s1", task);
    }
    let sessions = subagent.stage.sandbox.home().join(".pi/subagent-sessions");
    let directory = fs::read_dir(sessions)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let files = fs::read_dir(directory).unwrap();
    let names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, ["scout_s1.jsonl"]);
}
