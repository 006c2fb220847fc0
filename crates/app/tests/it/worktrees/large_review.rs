//! Eight results in a repository of three thousand files, of which the right ones are accepted in an
//! order that stays green, beside the work of a person.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use pi_subagents_testkit::REVIEW_PROJECT;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::reviews::{checkout, fates, make_dirty};
use super::stage::WorktreeStage;

const FILES: &str = "3000";

const EIGHT: [(&str, &str); 8] = [
    ("docs", "mkdir docs; echo guide > docs/guide.txt"),
    (
        "api",
        "sed -i s/two/TWO/ src/app.txt src/part-7/file-35?.txt",
    ),
    (
        "ui",
        "sed -i s/two/zwei/ src/app.txt src/part-7/file-350.txt; seq 40 >> src/app.txt",
    ),
    ("strict", "echo strict=on >> src/strict.txt"),
    (
        "bools",
        "printf 'answer=yes\\nand more\\nand more\\n' >> src/bools.txt",
    ),
    ("bump", "echo two 2.0 >> Cargo.lock"),
    ("claim", "echo six >> src/claim.txt; true"),
    (
        "tidy",
        "git rm -q src/old.txt src/part-3/file-150.txt; true",
    ),
];

fn make_project(stage: &WorktreeStage) {
    let mut shell = Command::new("sh")
        .args(["-s", FILES])
        .current_dir(stage.project())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut script = shell.stdin.take().unwrap();
    script.write_all(REVIEW_PROJECT.as_bytes()).unwrap();
    drop(script);
    assert!(shell.wait().unwrap().success());
}

#[test]
fn the_right_ones_of_eight_results_are_taken_among_three_thousand_files() {
    let stage = WorktreeStage::new();
    make_project(&stage);
    stage.answer_for("All 42 tests pass now.", EIGHT[6].1);
    stage.run(&EIGHT);
    make_dirty(&stage);
    let before = checkout(&stage);
    assert!(before.len() > 3000, "{}", before.len());
    let take = ["review", "--accept-all", "--gate", "sh tests.sh", "--json"];
    let output = stage.ours(&take).run();
    let report = output.json();
    assert_eq!(output.code, Some(4), "{output}");
    let expected = BTreeMap::from([
        ("api", "taken"),
        ("bools", "red"),
        ("bump", "taken"),
        ("claim", "taken"),
        ("docs", "taken"),
        ("strict", "taken"),
        ("tidy", "taken"),
        ("ui", "conflict"),
    ]);
    assert_eq!(fates(&report), expected, "{report:#}");
    assert!(report["gateRuns"].as_u64().unwrap() < 8, "{report:#}");
    let results = report["results"].as_array().unwrap();
    let red = results.iter().find(|one| one["name"] == "bools").unwrap();
    assert_eq!(
        [&red["exitCode"], &red["greenAlone"]],
        [&json!(101), &json!(true)]
    );
    // Untouched files have the same bytes, and the tests of the project pass.
    let after = checkout(&stage);
    let changed = before
        .iter()
        .filter(|(name, bytes)| after.get(*name) != Some(*bytes));
    assert_eq!(changed.count(), 16);
    let checked = Command::new("sh")
        .arg("tests.sh")
        .current_dir(stage.project())
        .output();
    assert!(checked.unwrap().status.success());
    stage.ours(&["undo"]).run().expect_success();
    assert_eq!(checkout(&stage), before);
}
