//! A worker whose disk is full when a run is over: what the run changed is kept there, and comes when
//! there is room.

use std::fs;
use std::path::Path;
use std::time::Duration;

use pi_subagents_testkit::sandbox::RunningCommand;
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use rustix::process::{Pid, Resource, Rlimit, Signal, prlimit};
use serde_json::{Value, json};

use super::fleet_stage::{FleetStage, git};
use crate::stage::{call, completed, outcomes};

const PATIENCE: Duration = Duration::from_mins(1);

/// The script of a run that commits, and leaves files that have room one by one. All of them in one
/// file have not.
fn script() -> Value {
    let commit = "echo lamp > lamp.txt && git add lamp.txt && git commit --quiet -m lamp";
    let files = "for n in 1 2 3 4; do head -c 60000 /dev/urandom > $n.dat; done";
    json!([{"shell": commit}, {"shell": files}, {"reply": "done"}])
}

/// Starts a worker of which no file may grow beyond 128 kB, as on a full disk.
fn full_worker(fleet: &FleetStage) -> RunningCommand {
    let stage = &fleet.stage;
    let limited = r#"ulimit -S -f 256; exec "$0" "$@""#;
    let command = stage.sandbox.command(Path::new("/bin/sh"));
    let command = command.env("PI_SUBAGENTS_PI", pi_subagents_testkit::bin("misbehave"));
    let program = env!("CARGO_BIN_EXE_pi-subagents");
    let root = stage.path("worker-build-7");
    let worker = ["fleet", "work", "--name", "build-7", "--root", &root];
    let worker = command.args(["-c", limited, program]).args(worker).spawn();
    worker.wait_for_stderr("takes");
    worker
}

/// Does the run, and checks that its caller hears where its changes are. Returns its id.
fn run_without_room(fleet: &FleetStage) -> String {
    let stage = &fleet.stage;
    let delegated = stage.delegate(&call(&[("task", script())]));
    let answered = delegated.args(["--on", "fleet"]).run();
    assert_eq!(
        outcomes(&answered),
        [completed("task", "done")],
        "{answered}"
    );
    let run = answered.json()["runs"][0]["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    let words = normalised(fleet, &answered.json()["warnings"][0].to_string(), &run);
    insta::allow_duplicates! {
        insta::assert_snapshot!(words, @r#""task: what it changed could not be sent: <why>. Worker build-7 keeps it in $SANDBOX/worker-build-7/unsent/<run-1>-1 and sends it when that works; pi-subagents merge <run-1> fetches it then""#);
        insta::assert_snapshot!(normalised(fleet, &fleet.printed(&["merge", &run]), &run), @"
        error: task has no result: what it changed could not be sent: <why>. Worker build-7 keeps it in $SANDBOX/worker-build-7/unsent/<run-1>-1 and sends it when that works; pi-subagents merge <run-1> fetches it then (run <run-1>)
        exit 5
        ");
    }
    run
}

/// Returns words without the parts that differ from test to test, and without the words of git.
fn normalised(fleet: &FleetStage, words: &str, run: &str) -> String {
    let words = words.replace(&fleet.stage.path(""), "$SANDBOX/");
    let words = words.replace(run, "<run-1>");
    let (before, rest) = words.split_once("could not be sent: ").unwrap();
    let (_, after) = rest.split_once(". Worker").unwrap();
    format!("{before}could not be sent: <why>. Worker{after}")
}

/// Waits until the changes can be merged, and checks that all of them are there.
fn merge(fleet: &FleetStage, run: &str) {
    let stage = &fleet.stage;
    let merged = wait_until(PATIENCE, || {
        let merged = stage.command(&["merge", run]).run();
        (merged.code == Some(0)).then_some(merged.stdout)
    });
    assert_eq!(merged.as_deref(), Some("✓ task: merged, 5 files +1 −0\n"));
    let project = stage.sandbox.project();
    let status = git(stage, &project, &["status", "--porcelain"]);
    assert_eq!(
        status,
        "?? 1.dat\n?? 2.dat\n?? 3.dat\n?? 4.dat\n?? lamp.txt\n"
    );
    assert_eq!(fs::read(project.join("4.dat")).unwrap().len(), 60_000);
    let kept = stage.sandbox.root().join("worker-build-7/unsent");
    assert!(
        wait_until(PATIENCE, || fs::read_dir(&kept)
            .unwrap()
            .next()
            .is_none()
            .then_some(()))
        .is_some(),
        "a workspace is left in {}",
        kept.display()
    );
}

#[test]
fn changes_that_had_no_room_at_the_end_come_when_there_is_room() {
    let fleet = FleetStage::with_git();
    let worker = full_worker(&fleet);
    let run = run_without_room(&fleet);
    let pid = Pid::from_raw(worker.pid().cast_signed()).unwrap();
    let unlimited = Rlimit {
        current: None,
        maximum: None,
    };
    // The keepers of its git began with the limit of the worker.
    for pid in [vec![pid], children(pid)].concat() {
        prlimit(Some(pid), Resource::Fsize, unlimited).unwrap();
    }
    worker.wait_for_stderr(&format!("sent the changes of {run}, which were kept"));
    merge(&fleet, &run);
}

#[test]
fn changes_that_had_no_room_outlive_a_worker_that_is_killed() {
    let fleet = FleetStage::with_git();
    let worker = full_worker(&fleet);
    let run = run_without_room(&fleet);
    worker.kill(Signal::KILL);
    _ = worker.wait();
    let _worker = fleet.worker("build-7");
    merge(&fleet, &run);
}

/// Returns the processes that a process has started.
fn children(pid: Pid) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero())).unwrap();
    let listed = threads.map(|thread| {
        let file = thread.unwrap().path().join("children");
        fs::read_to_string(file).unwrap_or_default()
    });
    let listed: Vec<String> = listed.collect();
    let numbers = listed.iter().flat_map(|text| text.split_whitespace());
    numbers
        .filter_map(|number| Pid::from_raw(number.parse().ok()?))
        .collect()
}
