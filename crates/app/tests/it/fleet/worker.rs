//! A worker: it does orders, answers requests about them, loses them, and gives them back.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_fleet_queue::Arrival;
use pi_subagents_fleet_queue::wire::WorkerCard;
use pi_subagents_testkit::process;
use pi_subagents_testkit::{wait_for_file, wait_until};
use pi_subagents_vocabulary::RunId;
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::json;

use super::worker_stage::{PATIENCE, Yard, order};
use crate::stage::files_below;

/// Returns the lines that a worker printed, without their times.
fn lines(stderr: &str) -> String {
    let line = |line: &str| {
        // A line of the worker begins with a date and a time, and an error with a word.
        let words = if line.starts_with(|first: char| first.is_ascii_digit()) {
            3
        } else {
            2
        };
        line.splitn(words, ' ').last().unwrap_or(line).to_owned()
    };
    let lines: Vec<String> = stderr.lines().map(line).collect();
    lines.join("\n")
}

#[test]
fn a_worker_does_an_order_and_sends_its_record() {
    let yard = Yard::new();
    let machine = yard.worker("build-7", &["--once"]);
    let order = order(1, &json!([{"reply": "All is well."}]));
    yard.submit(&order);
    let ended = yard.end_of(&order.run);
    assert_eq!(
        (
            ended.worker.as_str(),
            ended.attempt,
            ended.status.as_str(),
            ended.exit_code
        ),
        ("build-7", 1, "completed", 0)
    );
    let record = yard.record_of(&order.run, &ended);
    let events = String::from_utf8(record["events.jsonl"].clone()).unwrap();
    assert!(events.contains("All is well."), "{events}");
    let output = machine.worker.wait();
    let port = yard.server.port().to_string();
    let said = lines(&output.stderr).replace(&port, "<port>");
    insta::assert_snapshot!(said, @r#"
    worker build-7 takes one run from pool default of nats://127.0.0.1:<port>, and then ends. Ctrl-C lets them end first.
    took 20261116-120000-000-000001 "review" of ada@laptop
    completed 20261116-120000-000-000001 "review", 110 tokens • <$0.01 • 0s
    worker has ended
    "#);
    assert_eq!(output.code, Some(0));
}

#[test]
fn a_second_worker_of_one_name_is_refused_and_the_first_one_stays_in_the_list() {
    let yard = Yard::new();
    // Another machine has the name, and renews its card every second.
    let card = WorkerCard {
        pools: vec!["default".to_owned()],
        instance: "elsewhere".to_owned(),
        machine: "ada@laptop".to_owned(),
        ..WorkerCard::default()
    };
    let time = Duration::from_secs(3);
    let Ok(Arrival::Present(_first)) = yard.wait(yard.fleet.be_present("build-7", &card, time))
    else {
        panic!("nobody else is there");
    };
    let stage = yard.caller();
    let second = stage.command(&["fleet", "work", "--name", "build-7"]).run();
    assert_eq!(second.code, Some(1));
    insta::assert_snapshot!(lines(&second.stderr), @"
    a worker build-7 on ada@laptop was here less than a minute ago; waiting until it is known whether it still works
    another worker has the name build-7: it is running on ada@laptop
    Give this one its own name: pi-subagents fleet work --name NAME. A fleet with keys needs a key for that name too: pi-subagents fleet key worker NAME.
    ");
    let listed = stage
        .command(&["fleet", "workers", "--json"])
        .run()
        .expect_success();
    assert_eq!(listed.json()["workers"][0]["name"], "build-7");
    // A worker that was killed begins again at once in its own directory, without what was arriving.
    let third = yard.worker("build-9", &[]);
    third.worker.kill(Signal::KILL);
    assert_eq!(third.worker.wait().code, None);
    let own = third.stage.sandbox.home();
    let left = own.join(".pi/agent/subagents-worker/build-9/arriving/left");
    fs::create_dir_all(&left).unwrap();
    let again = third
        .stage
        .command(&["fleet", "work", "--name", "build-9"])
        .spawn();
    again.wait_for_stderr("takes");
    assert!(!left.exists());
    assert!(!again.stderr().contains("waiting"), "{}", again.stderr());
    // Two shells on one machine are told apart by their directory.
    let twice = third
        .stage
        .command(&["fleet", "work", "--name", "build-9"])
        .run();
    assert!(
        twice
            .stderr
            .contains("hint: Give this one its own name with --name")
    );
    let said = twice
        .stderr
        .replace(&third.stage.sandbox.root().display().to_string(), "<root>");
    let (said, _) = said.split_once(" (").unwrap();
    insta::assert_snapshot!(said, @"error: another worker uses the directory <root>/home/.pi/agent/subagents-worker/build-9");
}

#[test]
fn a_run_of_a_killed_worker_is_begun_again_by_another_and_ends_once() {
    let yard = Yard::new();
    let first = yard.worker("build-7", &[]);
    let begun = first.stage.path("begun");
    let order = order(2, &json!([{"touch": begun}, {"hang": true}]));
    yard.submit(&order);
    wait_for_file(&begun, PATIENCE);
    let tree = process::descendants(first.worker.pid());
    first.worker.kill(Signal::KILL);
    let second = yard.worker("build-9", &["--rank", "1"]);
    second.worker.wait_for_stderr("attempt 2");
    assert_eq!(process::wait_until_gone(&tree, PATIENCE), Ok(()));
    let run = RunId::parse(&order.run).unwrap();
    yard.wait(yard.fleet.wish_stop(&run, "ada")).unwrap();
    let ended = yard.end_of(&order.run);
    assert_eq!(
        (ended.worker.as_str(), ended.attempt, ended.status.as_str()),
        ("build-9", 2, "stopped")
    );
}

#[test]
fn a_run_that_somebody_wants_stopped_never_begins_and_leaves_nothing() {
    let yard = Yard::new();
    let order = order(4, &json!([{"reply": "never said"}]));
    yard.submit(&order);
    let run = RunId::parse(&order.run).unwrap();
    yard.wait(yard.fleet.wish_stop(&run, "ada@laptop")).unwrap();
    let machine = yard.worker("build-7", &[]);
    let ended = yard.end_of(&order.run);
    assert_eq!(
        (ended.status.as_str(), ended.files),
        ("stopped", BTreeMap::new())
    );
    let said = "before it began: ada@laptop stopped it";
    machine.worker.wait_for_stderr(said);
    machine.worker.kill(Signal::TERM);
    assert_eq!(machine.worker.wait().code, Some(0));
    let mut left = files_below(machine.stage.sandbox.root());
    left.retain(|path| path.to_string_lossy().contains(&order.run));
    assert_eq!(left, [""; 0].map(PathBuf::from));
}

#[test]
fn a_worker_that_is_told_to_end_gives_back_what_it_cannot_finish() {
    let yard = Yard::new();
    let first = yard.worker("build-7", &["--drain", "0"]);
    let begun = first.stage.path("begun");
    let order = order(3, &json!([{"touch": begun}, {"hang": true}]));
    yard.submit(&order);
    wait_for_file(&begun, PATIENCE);
    first.worker.kill(Signal::TERM);
    let output = first.worker.wait();
    let said = lines(&output.stderr).replace(&yard.server.port().to_string(), "<port>");
    insta::assert_snapshot!(said, @r#"
    worker build-7 takes up to 4 runs at once from pool default of nats://127.0.0.1:<port>. Ctrl-C lets them end first.
    took 20261116-120000-000-000003 "review" of ada@laptop
    takes nothing new; 1 run may continue for 0 s. Ctrl-C again gives back what is left now.
    gave back 20261116-120000-000-000003 "review"
    worker has ended
    "#);
    let second = yard.worker("build-9", &[]);
    // It did not count as an attempt.
    second.worker.wait_for_stderr("took");
    assert!(
        wait_until(PATIENCE, || {
            let said = second.worker.stderr();
            said.contains("took").then_some(!said.contains("attempt 2"))
        })
        .unwrap()
    );
}

#[test]
fn orders_that_cannot_be_done_are_refused_with_the_reason() {
    let yard = Yard::new();
    let _machine = yard.worker("build-7", &[]);
    let mut strange = order(4, &json!([]));
    strange.requires = vec!["teleport".to_owned()];
    yard.submit(&strange);
    let mut nowhere = order(5, &json!([]));
    nowhere.relative_cwd = "../secret".to_owned();
    yard.submit(&nowhere);
    let reasons = [&strange, &nowhere].map(|order| {
        let ended = yard.end_of(&order.run);
        format!(
            "{}: {}",
            ended.status,
            ended.ending["message"].as_str().unwrap()
        )
    });
    insta::assert_snapshot!(reasons.join("\n"), @r#"
    failed: this worker does not know "teleport", which the order requires; update pi-subagents on it
    failed: worker build-7 could not begin: "../secret" leads out of the workspace
    "#);
}

#[test]
fn a_killed_worker_that_is_started_again_gives_back_its_runs_before_their_lease_is_over() {
    // Nobody in this test waits as long as the lease.
    let yard = Yard::with_lease(PATIENCE * 4);
    let first = yard.worker("build-7", &[]);
    let begun = first.stage.path("begun");
    let order = order(
        6,
        &json!([{"touch": begun}, {"waitForFile": first.stage.path("go")}, {"reply": "done"}]),
    );
    yard.submit(&order);
    wait_for_file(&begun, PATIENCE);
    let tree = process::descendants(first.worker.pid());
    first.worker.kill(Signal::KILL);
    assert_eq!(process::wait_until_gone(&tree, PATIENCE), Ok(()));
    std::fs::write(first.stage.path("go"), "").unwrap();
    let again = first
        .stage
        .command(&["fleet", "work", "--name", "build-7"])
        .spawn();
    again.wait_for_stderr("which was running when this worker was killed");
    let ended = yard.end_of(&order.run);
    // It counts as an attempt: the run may be what killed the worker.
    assert_eq!(
        (
            ended.worker.as_str(),
            ended.n,
            ended.attempt,
            ended.status.as_str()
        ),
        ("build-7", 2, 2, "completed")
    );
}

#[test]
fn a_worker_that_gets_a_run_twice_from_a_server_without_its_disk_keeps_two_records() {
    let mut yard = Yard::new();
    let machine = yard.worker("build-7", &[]);
    let (begun, go) = (machine.stage.path("begun"), machine.stage.path("go"));
    let script = json!([{"touch": begun}, {"waitForFile": go}, {"reply": "done"}]);
    let order = order(1, &script);
    yard.submit(&order);
    wait_for_file(&begun, PATIENCE);
    yard.server.kill();
    yard.server.lose_store();
    yard.server.restart();
    yard.set_up_again();
    // A follower that finds nothing of the run gives its order again, and the server counts from one.
    yard.submit(&order);
    let took_twice = || {
        let said = machine.worker.stderr();
        (said.matches("took").count() == 2).then_some(())
    };
    assert!(
        wait_until(PATIENCE, took_twice).is_some(),
        "{}",
        machine.worker.stderr()
    );
    fs::write(&go, "").unwrap();
    let ended = yard.end_of(&order.run);
    assert_eq!((ended.status.as_str(), ended.n), ("completed", 1));
    let record = yard.record_of(&order.run, &ended);
    let events = String::from_utf8_lossy(&record["events.jsonl"]).into_owned();
    let times = ["run_started", "run_ended"].map(|kind| events.matches(kind).count());
    assert_eq!(times, [1, 1], "{events}");
}
