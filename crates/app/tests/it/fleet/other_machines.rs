//! Runs of a fleet as other machines and other commands see them: the lists, the worker's name, the
//! words that are just written.

use std::fs;
use std::path::Path;
use std::time::Duration;

use pi_subagents_testkit::{wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::fleet_stage::{FleetStage, words_until};
use crate::stage::{Stage, call, completed, outcomes};
use crate::terminal::Terminal;
use crate::web_stage::WebStage;

const PATIENCE: Duration = Duration::from_mins(1);

/// Makes another machine with a clone of the repository, and the same fleet.
fn another_machine(fleet: &FleetStage) -> Stage {
    let stage = Stage::new();
    let from = fleet.stage.sandbox.project();
    let clone = stage.sandbox.command(Path::new("git"));
    let arguments = ["clone", "--quiet", from.to_str().unwrap(), "."];
    clone.args(arguments).run().expect_success();
    stage.settings(&json!({"fleet": {"servers": [fleet.server.url()]}}));
    stage
}

#[test]
fn runs_that_another_machine_gave_are_listed_until_they_are_over_and_are_copied_whole() {
    let fleet = FleetStage::with_git();
    let _worker = fleet.worker("build-7");
    let stage = &fleet.stage;
    let script = json!([{"touch": stage.path("begun")}, {"waitForFile": stage.path("go")}, {"reply": "done"}]);
    let tasks = call(&[("review", script)]);
    let caller = stage.delegate(&tasks).args(["--on", "fleet"]).spawn();
    wait_for_file(stage.path("begun"), PATIENCE);
    let other = another_machine(&fleet);
    let listed = |stage: &Stage| stage.command(&["status", "--fleet", "--json"]).run().json();
    let mut others = listed(&other)["runsOfOthers"].clone();
    let run = others[0]["runId"].as_str().unwrap().to_owned();
    for field in ["runId", "sessionId", "caller"] {
        assert!(others[0][field].take().is_string(), "{others}");
    }
    let expected = json!([{"runId": null, "sessionId": null, "name": "review", "caller": null,
        "pool": "default", "worker": "build-7"}]);
    assert_eq!(others, expected);
    let table = other.command(&["status", "--fleet"]).run().stdout;
    let row = table.lines().find(|line| line.contains(&run));
    let words: Vec<&str> = row.unwrap_or(&table).split_whitespace().collect();
    assert_eq!(
        (words[1], words.last()),
        ("review", Some(&"build-7")),
        "{table}"
    );
    // The machine that gave it knows it by itself.
    assert_eq!(listed(stage)["runsOfOthers"], json!([]));
    fs::write(stage.path("go"), "").unwrap();
    assert_eq!(outcomes(&caller.wait()), [completed("review", "done")]);
    assert_eq!(listed(&other)["runsOfOthers"], json!([]));
    // Asked for by its id, it is copied, with the directory that it has here.
    let copied = other.command(&["status", &run, "--json"]).run().json();
    let facts = ["status", "worker", "cwd"].map(|field| copied["runs"][0][field].clone());
    let here = fs::canonicalize(other.sandbox.project()).unwrap();
    let expected = ["completed", "build-7", here.to_str().unwrap()];
    assert_eq!(facts, expected.map(Value::from), "{copied}");
}

#[test]
fn a_finished_run_still_names_its_worker_in_every_list() {
    let fleet = FleetStage::set_up();
    let _worker = fleet.worker("build-7");
    let stage = &fleet.stage;
    let tasks = call(&[("review", json!([{"reply": "done"}]))]);
    let on_fleet = ["--on", "fleet", "--workspace", "none"];
    let answered = stage.delegate(&tasks).args(on_fleet).run();
    assert_eq!(outcomes(&answered), [completed("review", "done")]);
    let table = stage.command(&["status", "--all"]).run().stdout;
    assert!(table.contains("review @build-7"), "{table}");
    let mut attached = Terminal::start(stage.command(&["attach"]));
    attached.wait_for("@build-7 done");
    attached.press("q");
    assert_eq!(attached.leave(), (Some(0), true));
}

#[test]
fn attach_shows_the_words_that_a_model_on_a_worker_is_writing() {
    let fleet = FleetStage::set_up();
    let _worker = fleet.worker("build-7");
    let stage = &fleet.stage;
    let script = words_until(&stage.path("end"));
    let spawn = ["spawn", "--runner", "pi", "--json", "--on", "fleet"];
    let spawn = stage.command(&spawn).args(["--workspace", "none"]);
    spawn.arg(script.to_string()).run().expect_success();
    let mut attached = Terminal::start(stage.command(&["attach"]));
    attached.wait_for("word word word");
    fs::write(stage.path("end"), "").unwrap();
    let is_over = || {
        let listed = stage.command(&["status", "--all", "--json"]).run().json();
        (listed["runs"][0]["status"] == "completed").then_some(())
    };
    assert!(wait_until(PATIENCE, is_over).is_some());
    attached.press("q");
    assert_eq!(attached.leave(), (Some(0), true));
}

#[test]
fn the_page_shows_the_words_that_a_model_on_a_worker_is_writing() {
    let fleet = FleetStage::set_up();
    let _worker = fleet.worker("build-7");
    let FleetStage {
        stage,
        server: _server,
    } = fleet;
    let end = stage.path("end");
    let script = words_until(&end);
    let spawn = ["spawn", "--runner", "pi", "--json", "--on", "fleet"];
    let spawn = stage.command(&spawn).args(["--workspace", "none"]);
    let spawned = spawn.arg(script.to_string()).run().json();
    let run = spawned["runs"][0]["runId"].as_str().unwrap();
    let web = WebStage::of(stage, &[]);
    let is_said = |piece: &Value| {
        let words = piece["words"].as_str().unwrap_or_default();
        piece["run"] == run && words.contains("word word word")
    };
    web.follow(&format!("run={run}&from=0"), is_said);
    fs::write(end, "").unwrap();
}
