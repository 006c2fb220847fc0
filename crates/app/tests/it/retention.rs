//! The retention of the settings: who may decide about removals, when they happen, and how a person
//! learns of them.

use std::fs;
use std::path::Path;
use std::time::Duration;

use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::house_stage::{House, MadeUp};
use crate::stage::call;
use crate::terminal::Terminal;

const PATIENCE: Duration = Duration::from_mins(1);

impl House {
    fn memory(&self) -> std::path::PathBuf {
        let agent_dir = self.stage.sandbox.agent_dir();
        agent_dir.join("subagents-retention.json")
    }

    /// Applies the retention in the usual project, as a process of ours does once a day.
    fn sweep(&self) {
        self.stage.command(&["sweeper"]).run().expect_success();
    }

    fn check(&self, name: &str) -> Value {
        let doctor = self.stage.command(&["doctor", "--json"]).run().json();
        let checks = doctor["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["name"] == name);
        check.unwrap().clone()
    }
}

fn read(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

#[test]
fn old_runs_of_the_project_go_and_nothing_else() {
    let house = House::with(&[("r-1", 90), ("r-2", 29)]);
    house.add(MadeUp::new("r-3", "talk", 80));
    house.add(MadeUp::new("r-4", "talk", 3));
    house.add(MadeUp {
        pi_session: Some("pi-1"),
        ..MadeUp::new("r-5", "s-5", 70)
    });
    house.add(MadeUp {
        project: "other",
        ..MadeUp::new("r-6", "s-6", 90)
    });
    house.sweep();
    assert_eq!(house.names(), ["r-2", "r-3", "r-4", "r-5"]);
    let other = house.stage.sandbox.root().join("other/.pi/subagents/runs");
    assert!(other.join("r-6/meta.json").exists());
    let memory = read(&house.memory());
    assert_eq!(memory["latest"]["runs"], 1, "{memory}");
}

#[test]
fn size_takes_the_oldest_but_nothing_of_today() {
    let house = House::with(&[("r-1", 9), ("r-2", 5), ("r-3", 0)]);
    for (run, megabytes) in [("r-1", 1), ("r-2", 1), ("r-3", 3)] {
        let file = house.directory(run).join("stdout.log");
        fs::write(file, vec![b'x'; megabytes << 20]).unwrap();
    }
    let retain = |retention: Value| house.stage.settings(&json!({"retention": retention}));
    retain(json!({"megabytes": 100}));
    house.sweep();
    assert_eq!(house.names(), ["r-1", "r-2", "r-3"]);
    retain(json!({"megabytes": 5}));
    house.sweep();
    assert_eq!(house.names(), ["r-2", "r-3"]);
    retain(json!({"megabytes": 1}));
    house.sweep();
    assert_eq!(house.names(), ["r-3"]);
}

#[test]
fn what_cannot_be_read_removes_nothing() {
    let house = House::with(&[("r-1", 900)]);
    for retention in [
        json!(false),
        json!(30),
        json!({"days": "7"}),
        json!({"day": 7}),
    ] {
        house.stage.settings(&json!({"retention": retention}));
        house.sweep();
        assert_eq!(house.names(), ["r-1"], "{retention}");
    }
    let settings = house.stage.sandbox.agent_dir().join("settings.json");
    fs::write(settings, "{\"subagents\": {},}").unwrap();
    house.sweep();
    assert_eq!(house.names(), ["r-1"]);
}

#[test]
fn a_project_cannot_remove_more_than_its_user_allows() {
    let house = House::with(&[("r-1", 20)]);
    let settings = json!({"subagents": {"retention": {"days": 1}}}).to_string();
    house
        .stage
        .sandbox
        .write("project/.pi/settings.json", &settings);
    house
        .stage
        .command(&["trust", "--yes"])
        .run()
        .expect_success();
    house.sweep();
    assert_eq!(house.names(), ["r-1"]);
    let clean = house.clean(&["--yes", "--json"]).json();
    assert_eq!(clean["removed"], json!([]), "{clean}");
}

#[test]
fn a_call_has_old_runs_removed_once_a_day_and_says_so_once() {
    let house = House::with(&[("r-1", 90)]);
    let delegate = || {
        let task = call(&[("a", json!([{"reply": "hello"}]))]);
        house.stage.delegate(&task).run().expect_success();
    };
    // The first call of a project only notes the day.
    delegate();
    assert!(house.directory("r-1").exists());
    let project = house.stage.sandbox.project().display().to_string();
    let mut memory = read(&house.memory());
    assert!(memory["projects"][&project].is_string(), "{memory}");
    memory["projects"][&project] = json!("2026-01-01T00:00:00Z");
    fs::write(house.memory(), memory.to_string()).unwrap();
    delegate();
    let is_noted = || {
        let memory = read(&house.memory());
        (memory["latest"]["runs"] == 1).then_some(memory)
    };
    let memory = wait_until(PATIENCE, is_noted).expect("the run is removed");
    assert!(!house.directory("r-1").exists());
    assert_ne!(memory["projects"][&project], "2026-01-01T00:00:00Z");
    let check = house.check("retention");
    let text = check["text"].as_str().unwrap();
    assert!(text.contains("1 old run of "), "{text}");
    let status = || Terminal::start(house.stage.command(&["status"])).end().1;
    let said = "subagents.retention in the settings decides this";
    assert!(status().contains(said));
    assert!(!status().contains(said));
}

#[test]
fn doctor_says_what_the_records_take_and_what_is_due() {
    let house = House::with(&[("r-1", 90), ("r-2", 3)]);
    let text = |house: &House| {
        let check = house.check("retention");
        let text = check["text"].as_str().unwrap().to_owned();
        let words = text.split(' ').map(|word| match word.parse::<f64>() {
            Ok(number) if number > 2.0 => "N",
            Ok(_) | Err(_) => word,
        });
        words.collect::<Vec<_>>().join(" ")
    };
    insta::assert_snapshot!(text(&house), @"N kB for 2 runs, 1 run of N kB due for removal (subagents.retention; pi-subagents clean)");
    house.stage.settings(&json!({"retention": false}));
    insta::assert_snapshot!(text(&house), @"N kB for 2 runs, nothing is removed by itself (subagents.retention)");
    assert_eq!(house.names(), ["r-1", "r-2"]);
}
