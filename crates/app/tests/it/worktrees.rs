//! Runs in worktrees of their own: their files, their results, and the way back.

mod after_a_crash;
mod attempts;
mod confined_reviews;
mod conflict_resolution;
mod doors;
mod guard;
mod hostile_git;
mod isolation_choice;
mod kills;
mod large_repository;
mod large_review;
mod merge_check;
mod merging;
mod old_worktrees;
mod parts;
mod preparation;
mod processes_of_git;
mod programs_of_the_repository;
mod review_doors;
mod review_screen;
mod reviews;
mod stage;
mod submodules;
mod unreachable;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use self::stage::WorktreeStage;
use crate::json_schemas::Schemas;

/// Compares the JSON of commands about changes with their schemas.
pub(crate) fn check_json(schemas: &mut Schemas) {
    let stage = WorktreeStage::new();
    let tasks = [
        ("api", "sed -i s/two/TWO/ kept.txt"),
        ("ui", "sed -i s/two/zwei/ kept.txt; true"),
        ("tests", "echo test > test.txt"),
        ("spare", "echo spare > spare.txt"),
    ];
    schemas.check("delegate", &stage.command(&tasks).run().expect_success());
    stage.plain(&[("shared", "true")]).run().expect_success();
    let run = |arguments: &[&str]| stage.ours(arguments).arg("--json").run();
    schemas.check("worktrees", &run(&["worktrees"]).expect_success());
    schemas.check("keep", &run(&["keep", "api", "shared"]));
    schemas.check("review", &run(&["review"]).expect_success());
    let take = ["review", "--accept-all", "--gate", "true", "spare"];
    schemas.check("review", &run(&take).expect_success());
    schemas.check("undo", &run(&["undo"]).expect_success());
    schemas.check("diff", &run(&["diff", "api"]).expect_success());
    // Without an edit there is no diff, with and without JSON.
    let nothing = run(&["diff", "shared"]);
    schemas.check("error", &nothing);
    assert_eq!(nothing.code, stage.ours(&["diff", "shared"]).run().code);
    schemas.check("merge", &run(&["merge", "api", "ui", "--check"]));
    schemas.check("merge", &run(&["merge", "api", "ui", "tests"]));
    schemas.check("discard", &run(&["discard", "spare", "shared", "--yes"]));
    schemas.check("worktrees", &run(&["worktrees", "prune"]).expect_success());
}

#[test]
fn an_isolated_run_changes_nothing_in_the_checkout_and_its_result_is_kept() {
    let stage = WorktreeStage::new();
    stage.write("kept.txt", "changed by the caller\n");
    let output = stage.run(&[("api", "cat kept.txt > copy.txt; echo new > new.txt")]);
    let workspace = &output["runs"][0]["workspace"];
    let files: Vec<&str> = workspace["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["copy.txt", "new.txt"]);
    assert_eq!(workspace["state"], "captured");
    assert_eq!(workspace["base"]["uncommitted"], 1);
    assert_eq!(stage.status(), " M kept.txt");
    let patch = std::fs::read_to_string(workspace["patch"].as_str().unwrap()).unwrap();
    assert!(patch.contains("+changed by the caller\n"), "{patch}");
    // Git knows what shell commands have changed, and the record says so.
    let record =
        std::path::Path::new(workspace["patch"].as_str().unwrap()).with_file_name("result.json");
    let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    assert_eq!(
        record["receipt"]["files"],
        json!({"changed": ["copy.txt", "new.txt"], "edits": 0, "source": "worktree"})
    );
    let printed = stage.ours(&["output", "api", "--receipt", "--json"]).run();
    assert_eq!(
        printed.json()["receipt"]["files"],
        record["receipt"]["files"]
    );
    let place = workspace["path"].as_str().unwrap();
    let home = stage.home_path(".pi/subagent-worktrees");
    assert!(place.starts_with(&home), "{place}");
}

#[test]
fn a_run_that_changes_nothing_leaves_nothing() {
    let stage = WorktreeStage::new();
    let output = stage.run(&[("look", "ls")]);
    assert_eq!(output["runs"][0]["workspace"]["state"], "unchanged");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(stage.git(&["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(stage.git(&["for-each-ref", "refs/pi-subagents"]), "");
}

#[test]
fn people_are_told_what_was_changed_and_what_to_type() {
    let stage = WorktreeStage::new();
    let said =
        stage.printed_by_run(&[("api", "echo one > a.txt; git add a.txt; git commit -qm one")]);
    insta::assert_snapshot!(said);
    let run = stage.last_run();
    insta::assert_snapshot!(stage.printed(&["diff", &run]));
    insta::assert_snapshot!(stage.printed(&["diff", "api", "--stat"]));
    insta::assert_snapshot!(stage.printed(&["worktrees"]));
}

#[test]
fn the_child_is_told_where_it_is() {
    let stage = WorktreeStage::new();
    stage.write(".gitignore", ".env\n");
    stage.write(".worktreeinclude", ".env\n");
    stage.write(".env", "A=1\n");
    let output = stage.run(&[("api", "cat .env > seen.txt")]);
    let directory = output["runs"][0]["artifacts"]["directory"]
        .as_str()
        .unwrap();
    let told = std::fs::read_to_string(format!("{directory}/workspace.md")).unwrap();
    insta::assert_snapshot!(stage.normalise(&told));
    assert_eq!(
        output["runs"][0]["workspace"]["files"][0]["path"],
        "seen.txt"
    );
}

#[test]
fn without_a_repository_the_task_is_refused_and_never_works_in_the_checkout() {
    let stage = WorktreeStage::without_repository();
    let output = stage.command(&[("api", "echo x > escaped.txt")]).run();
    assert_eq!(output.json()["runs"][0]["exitCode"], 1);
    let message = output.json()["runs"][0]["errorMessage"].clone();
    let message = stage.normalise(message.as_str().unwrap());
    insta::assert_snapshot!(message);
    assert!(!stage.project().join("escaped.txt").exists());
}

#[test]
fn the_setting_isolates_and_the_option_wins() {
    let stage = WorktreeStage::new();
    stage.settings(&json!({"isolation": "worktree"}));
    let isolated = stage.plain(&[("api", "echo x > a.txt")]).run().json();
    assert_eq!(isolated["runs"][0]["workspace"]["state"], "captured");
    let option = ["--isolation", "none"];
    let shared = stage
        .plain(&[("api", "echo x > b.txt")])
        .args(option)
        .run()
        .json();
    assert_eq!(shared["runs"][0]["workspace"], json!(null));
    assert!(stage.project().join("b.txt").exists());
}

#[test]
fn a_resumed_run_goes_on_in_its_worktree() {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "echo one > a.txt")]);
    let first = stage.last_run();
    let prompt = stage.prompt("echo two >> a.txt");
    let again = stage
        .ours(&["resume", &first, &prompt, "--json"])
        .run()
        .expect_success();
    let workspace = &again.json()["runs"][0]["workspace"];
    assert_eq!(workspace["files"][0]["added"], 2);
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 2);
    let merged = stage.ours(&["merge", "last"]).run().expect_success();
    assert_eq!(merged.stdout, "✓ api: merged, 1 file +2 −0\n");
    // Its worktree is gone now, so the next run begins in a new one.
    let prompt = stage.prompt("echo three >> a.txt");
    let third = stage
        .ours(&["resume", "last", &prompt, "--json"])
        .run()
        .expect_success();
    assert_eq!(third.json()["runs"][0]["workspace"]["files"][0]["added"], 1);
}

#[test]
fn a_session_that_a_tool_resumes_goes_on_in_its_worktree() {
    let stage = WorktreeStage::new();
    let first = stage.run(&[("api", "echo one > a.txt")]);
    let session = first["runs"][0]["sessionId"].as_str().unwrap();
    let prompt = stage.prompt("echo two >> a.txt");
    let call = json!({"tasks": [{"name": "api", "prompt": prompt, "resume": session}]});
    let again = stage.call(&call);
    let workspace = &again["runs"][0]["workspace"];
    assert_eq!(workspace["path"], first["runs"][0]["workspace"]["path"]);
    assert_eq!(workspace["files"][0]["added"], 2);
    let call = json!({"tasks": [{"name": "b", "prompt": prompt, "isolation": "worktree"}]});
    let asked = stage.call(&call);
    assert_eq!(asked["runs"][0]["workspace"]["state"], "captured");
    assert_eq!(stage.status(), "");
}
