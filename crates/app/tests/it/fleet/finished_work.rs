//! Work that was done while the servers were away: it is not done again, however long they are away.

use std::fs;
use std::path::Path;
use std::time::Duration;

use pi_subagents_testkit::wait_for_file;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::worker_stage::{PATIENCE, Yard};
use crate::stage::{Stage, call, completed, outcomes};

/// The options of a call to the fleet whose runs need no files.
const ON_FLEET: [&str; 4] = ["--on", "fleet", "--workspace", "none"];

/// Returns a task that leaves a line whenever it begins and whenever it is done, and waits for a file
/// in between.
fn task(stage: &Stage, name: &str) -> Value {
    let line = |word: &str| json!({"shell": format!("echo {word} >> {}", stage.path(name))});
    let go = stage.path(&format!("go-{name}"));
    json!([line("begun"), {"waitForFile": go}, line("done"), {"reply": name}])
}

fn lines(stage: &Stage, name: &str) -> Vec<String> {
    let text = fs::read_to_string(stage.path(name)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn wait_for_lines(stage: &Stage, name: &str, many: usize) {
    let found = pi_subagents_testkit::wait_until(PATIENCE, || {
        (lines(stage, name).len() >= many).then_some(())
    });
    assert!(found.is_some(), "{:?}", lines(stage, name));
}

#[test]
fn a_run_that_is_done_while_the_servers_are_away_for_longer_than_its_lease_is_not_begun_again() {
    let mut yard = Yard::with_lease(Duration::from_secs(4));
    let stage = yard.caller();
    let first = yard.worker("build-7", &[]);
    let tasks = [
        ("quick", task(&stage, "quick")),
        ("slow", task(&stage, "slow")),
    ];
    let calling = stage.delegate(&call(&tasks)).args(ON_FLEET).spawn();
    for name in ["quick", "slow"] {
        wait_for_file(Path::new(&stage.path(name)), PATIENCE);
    }
    let second = yard.worker("build-9", &[]);
    yard.server.kill();
    fs::write(stage.path("go-quick"), "").unwrap();
    wait_for_lines(&stage, "quick", 2);
    // The worker has been alone for so long that it has stopped the run that is not done.
    first.worker.wait_for_stderr("lost");
    fs::write(stage.path("go-slow"), "").unwrap();
    yard.server.restart();
    let answered = calling.wait();
    let expected = [completed("quick", "quick"), completed("slow", "slow")];
    assert_eq!(outcomes(&answered), expected, "{answered}");
    assert_eq!(lines(&stage, "quick"), ["begun", "done"]);
    assert_eq!(lines(&stage, "slow"), ["begun", "begun", "done"]);
    drop(second);
}
