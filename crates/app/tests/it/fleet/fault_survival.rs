//! The faults that calls survive: killed workers, killed callers, killed followers, and servers
//! that are started again.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_testkit::{process, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::worker_stage::{PATIENCE, Yard};
use crate::stage::{Stage, call, completed, outcomes};
use crate::web_stage::WebStage;

/// The options of a call to the fleet whose runs need no files.
const ON_FLEET: [&str; 4] = ["--on", "fleet", "--workspace", "none"];

/// Returns a task that makes a file when it begins, waits for another file, and answers.
fn task(stage: &Stage) -> Value {
    json!([{"touch": stage.path("begun")}, {"waitForFile": stage.path("go")}, {"reply": "done"}])
}

/// Returns the directory of the only run of a user.
fn run_directory(stage: &Stage) -> PathBuf {
    let runs = stage.sandbox.project().join(".pi/subagents/runs");
    let entries = fs::read_dir(&runs)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut runs: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs.remove(0)
}

/// Returns the lines of ours in the events of a run, each with its most telling field.
fn life(directory: &Path) -> Vec<String> {
    let events = fs::read_to_string(directory.join("events.jsonl")).unwrap_or_default();
    let lines = events
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ours = lines.filter(|line| {
        line["type"]
            .as_str()
            .is_some_and(|kind| kind.starts_with("run_"))
    });
    let word = |line: &Value| {
        let kind = line["type"].as_str()?.to_owned();
        let more = line["warning"].as_str().or(line["worker"].as_str());
        let more = more.or(line["ending"]["kind"].as_str());
        (kind != "run_at").then(|| match more {
            Some(more) => format!("{kind}: {more}"),
            None => kind,
        })
    };
    ours.filter_map(|line| word(&line)).collect()
}

/// Waits until the record here has the start of the child.
fn wait_until_copied(stage: &Stage) {
    let is_copied = || {
        let life = life(&run_directory(stage));
        life.contains(&"run_started".to_owned()).then_some(())
    };
    let copied = wait_until(PATIENCE, is_copied);
    assert!(copied.is_some(), "the record is not copied");
}

#[test]
fn a_call_whose_worker_is_killed_goes_on_with_another_and_says_so() {
    let yard = Yard::new();
    let stage = yard.caller();
    let first = yard.worker("build-7", &[]);
    let tasks = [("review", task(&stage))];
    let calling = stage.delegate(&call(&tasks)).args(ON_FLEET).spawn();
    wait_for_file(stage.path("begun"), PATIENCE);
    wait_until_copied(&stage);
    first.worker.kill(Signal::KILL);
    let second = yard.worker("build-9", &[]);
    second.worker.wait_for_stderr("attempt 2");
    fs::write(stage.path("go"), "").unwrap();
    let answered = calling.wait();
    assert_eq!(
        outcomes(&answered),
        [completed("review", "done")],
        "{answered}"
    );
    let expected = [
        "run_placed: build-7",
        "run_accepted",
        "run_started",
        "run_warned: worker build-7 was lost; begun again on build-9",
        "run_placed: build-9",
        "run_accepted",
        "run_started",
        "run_ended: completed",
    ];
    assert_eq!(life(&run_directory(&stage)), expected);
}

#[test]
fn a_call_goes_on_when_the_server_is_started_again() {
    let mut yard = Yard::new();
    let stage = yard.caller();
    let _worker = yard.worker("build-7", &[]);
    let tasks = [("review", task(&stage))];
    let calling = stage.delegate(&call(&tasks)).args(ON_FLEET).spawn();
    wait_for_file(stage.path("begun"), PATIENCE);
    yard.server.restart();
    fs::write(stage.path("go"), "").unwrap();
    let answered = calling.wait();
    assert_eq!(
        outcomes(&answered),
        [completed("review", "done")],
        "{answered}"
    );
}

#[test]
fn a_caller_that_dies_before_its_order_is_given_leaves_nothing_that_runs() {
    let yard = Yard::new();
    let stage = yard.caller();
    let machine = yard.worker("build-7", &[]);
    let tasks = [("review", task(&stage))];
    let dying = stage.delegate(&call(&tasks)).args(ON_FLEET);
    let died = dying.env("FLEET_DIE_AT", "ordering").spawn();
    assert_eq!(died.wait_for_exit().code, None);
    // It is recorded, and the next command that looks learns that the fleet has never heard of it.
    let waited = stage.command(&["wait", "review"]).run();
    assert_eq!(waited.code, Some(1), "{waited}");
    let listed = stage.command(&["status", "--all", "--json"]).run().json();
    let row = &listed["runs"][0];
    let error = row["errorMessage"].as_str().unwrap_or_default();
    assert!(error.contains("the fleet does not know it"), "{listed}");
    assert_eq!(row["status"], "failed", "{listed}");
    // The next call of this user works as ever.
    fs::write(stage.path("go"), "").unwrap();
    let answered = stage.delegate(&call(&tasks)).args(ON_FLEET).run();
    let expected = [completed("review", "done")];
    assert_eq!(outcomes(&answered), expected, "{answered}");
    let taken = machine.worker.stderr().matches("took").count();
    assert_eq!(taken, 1, "{}", machine.worker.stderr());
}

#[test]
fn a_run_ends_when_its_caller_is_killed_and_the_next_command_knows_how() {
    let yard = Yard::new();
    let stage = yard.caller();
    let machine = yard.worker("build-7", &[]);
    let tasks = [("review", task(&stage))];
    let calling = stage.delegate(&call(&tasks)).args(ON_FLEET).spawn();
    wait_for_file(stage.path("begun"), PATIENCE);
    calling.kill(Signal::KILL);
    machine.worker.wait_for_stderr("stopped");
    let listed = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(
        (&listed["runs"][0]["status"], &listed["runs"][0]["exitCode"]),
        (&json!("stopped"), &json!(1)),
        "{listed}"
    );
}

/// Starts a background run and kills the process that follows it.
fn without_follower(yard: &Yard) -> (Stage, String) {
    let stage = yard.caller();
    let spawn = ["spawn", "--runner", "pi", "--json"];
    let spawned = stage
        .command(&spawn)
        .args(ON_FLEET)
        .arg(task(&stage).to_string())
        .run();
    wait_for_file(stage.path("begun"), PATIENCE);
    let directory = run_directory(&stage);
    let meta = fs::read_to_string(directory.join("meta.json")).unwrap();
    let meta: Value = serde_json::from_str(&meta).unwrap();
    let follower = u32::try_from(meta["owner"]["pid"].as_u64().unwrap()).unwrap();
    process::kill(follower, Signal::KILL);
    assert_eq!(
        process::wait_until_gone(&[follower], PATIENCE),
        Ok(()),
        "{spawned}"
    );
    (stage, meta["runId"].as_str().unwrap().to_owned())
}

#[test]
fn the_page_follows_a_run_without_follower_to_its_end() {
    let yard = Yard::new();
    let _machine = yard.worker("build-7", &[]);
    let (stage, run) = without_follower(&yard);
    let web = WebStage::of(stage, &[]);
    let status = |piece: &Value| {
        let mut rows = piece["rows"].as_array().into_iter().flatten();
        let row = rows.find(|row| row["runId"] == run)?;
        row["status"].as_str().map(str::to_owned)
    };
    let mut seen = Vec::new();
    web.follow("", |piece| {
        if let Some(status) = status(piece) {
            fs::write(web.stage.path("go"), "").unwrap();
            seen.push(status);
        }
        seen.last().is_some_and(|status| status == "completed")
    });
    seen.dedup();
    assert_eq!(seen, ["running", "completed"]);
}

#[test]
fn a_run_without_follower_is_caught_up_with_by_the_next_command() {
    let yard = Yard::new();
    let machine = yard.worker("build-7", &[]);
    let (stage, run) = without_follower(&yard);
    // While it runs, it belongs to the fleet alone, and it is not closed.
    let running = wait_until(PATIENCE, || {
        let listed = stage.command(&["status", "--json"]).run().json();
        (listed["runs"][0]["status"] == "running").then_some(())
    });
    assert!(running.is_some(), "it is never listed as running");
    fs::write(stage.path("go"), "").unwrap();
    machine.worker.wait_for_stderr("completed");
    let read = || {
        let output = stage.command(&["output", &run]).run();
        (output.code == Some(0)).then_some(output.stdout)
    };
    assert_eq!(wait_until(PATIENCE, read).as_deref(), Some("done\n"));
    assert_eq!(
        life(&run_directory(&stage)).last().unwrap(),
        "run_ended: completed"
    );
}

#[test]
fn whoever_waits_for_a_run_without_follower_follows_it() {
    let yard = Yard::new();
    let _machine = yard.worker("build-7", &[]);
    let (stage, run) = without_follower(&yard);
    let waiting = stage.command(&["wait", &run]).spawn();
    fs::write(stage.path("go"), "").unwrap();
    let waited = waiting.wait();
    assert_eq!(waited.code, Some(0), "{waited}");
}
