//! The changes of runs of a fleet, where they are shown and merged: in submodules, and on a machine
//! that did not ask for the run.

use std::fs;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::fleet_stage::{FleetStage, git, git_project, library};
use crate::stage::{Stage, call, outcomes};

/// Runs a shell command on a worker and returns its run.
fn ran(stage: &Stage, command: &str) -> String {
    let script = json!([{"shell": command}, {"reply": "done"}]);
    let delegated = stage.delegate(&call(&[("task", script)]));
    let output = delegated.args(["--on", "fleet"]).run();
    assert_eq!(outcomes(&output)[0].status, "completed", "{output}");
    output.json()["runs"][0]["runId"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// A fleet whose caller has a project with a submodule.
fn with_submodule() -> (FleetStage, PathBuf) {
    let fleet = FleetStage::with_git();
    let (stage, project) = (&fleet.stage, fleet.stage.sandbox.project());
    let inner = library(stage);
    let from = inner.to_str().unwrap();
    git(
        stage,
        &project,
        &["submodule", "--quiet", "add", from, "libs/inner"],
    );
    git(
        stage,
        &project,
        &["commit", "--quiet", "-m", "with a library"],
    );
    let submodule = project.join("libs/inner");
    (fleet, submodule)
}

#[test]
fn what_a_run_changed_in_a_submodule_is_shown_and_merged_in_the_submodule() {
    let (fleet, submodule) = with_submodule();
    let stage = &fleet.stage;
    let _worker = fleet.worker("build-7");
    fs::write(submodule.join("lib.txt"), "library, dirty\n").unwrap();
    let run = ran(
        stage,
        "echo outer > outer.txt; echo inner > libs/inner/inner.txt",
    );
    let inside = |arguments: &[&str]| stage.command(arguments).cwd(&submodule).run();
    let both = [
        stage.command(&["diff", &run, "--stat"]).run(),
        stage.command(&["merge", &run, "--check"]).run(),
        stage.command(&["merge", &run]).run(),
        inside(&["diff", &run, "--stat"]),
        inside(&["merge", &run, "--check"]),
        inside(&["merge", &run]),
        // Now nothing waits in the submodule.
        stage.command(&["diff", &run, "--stat"]).run(),
    ];
    let both = both.each_ref().map(|output| stage.printed(output));
    insta::assert_snapshot!(both.join("---\n"), @"
    outer.txt  +1 −0  added
    1 file +1 −0
    ! the submodule libs/inner has its own changes; merge run <run-1> there too, in libs/inner
    ---
          checkout
    task  ✓
    ! task: the submodule libs/inner has its own changes; merge run <run-1> there too, in libs/inner
    ---
    ✓ task: merged, 1 file +1 −0
    ! task: the submodule libs/inner has its own changes; merge run <run-1> there too, in libs/inner
    ---
    inner.txt  +1 −0  added
    1 file +1 −0
    ---
          checkout
    task  ✓
    ---
    ✓ task: merged, 1 file +1 −0
    ---
    outer.txt  +1 −0  added
    1 file +1 −0
    ");
    let left = ["outer.txt", "libs/inner/inner.txt", "libs/inner/lib.txt"];
    let left = left.map(|file| fs::read_to_string(stage.sandbox.project().join(file)).unwrap());
    assert_eq!(left, ["outer\n", "inner\n", "library, dirty\n"]);
}

#[test]
fn a_run_that_changed_only_a_submodule_says_where_its_changes_are() {
    let (fleet, submodule) = with_submodule();
    let stage = &fleet.stage;
    let _worker = fleet.worker("build-7");
    let run = ran(stage, "echo inner > libs/inner/inner.txt");
    let diff = stage.command(&["diff", &run]).run();
    insta::assert_snapshot!(stage.printed(&diff), @"
    error: task has left no changes in this repository (run <run-1>)
    hint: the submodule libs/inner has its own changes; merge run <run-1> there too, in libs/inner
    ");
    let merged = stage.command(&["merge", &run]).cwd(&submodule).run();
    merged.expect_success();
    assert!(submodule.join("inner.txt").exists());
}

/// A machine with a clone of the caller's repository.
fn another(fleet: &FleetStage) -> Stage {
    let stage = Stage::new();
    let from = fleet.stage.sandbox.project();
    git(
        &stage,
        &stage.sandbox.project(),
        &["clone", "--quiet", from.to_str().unwrap(), "."],
    );
    stage.settings(&json!({"fleet": {"servers": [fleet.server.url()]}}));
    stage
}

#[test]
fn changes_of_a_run_that_began_from_uncommitted_files_are_merged_on_a_third_machine() {
    let fleet = FleetStage::with_git();
    let caller = &fleet.stage;
    let third = another(&fleet);
    let _worker = fleet.worker("build-7");
    fs::write(
        caller.sandbox.project().join("readme.md"),
        "A lamp, dirty.\n",
    )
    .unwrap();
    let run = ran(caller, "echo new > new.txt; cat readme.md > seen.txt");
    let answer = third
        .command(&["diff", &run, "--json"])
        .run()
        .expect_success();
    let files: Vec<Value> = answer.json()["files"].as_array().unwrap().clone();
    let files: Vec<&str> = files
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["new.txt", "seen.txt"]);
    third.command(&["merge", &run]).run().expect_success();
    let project = third.sandbox.project();
    let read = |file: &str| fs::read_to_string(project.join(file)).unwrap();
    // The uncommitted files of the caller stay with the caller.
    let left = ["new.txt", "seen.txt", "readme.md"].map(read);
    assert_eq!(left, ["new\n", "A lamp, dirty.\n", "A lamp.\n"]);
}

#[test]
fn a_third_machine_without_the_commit_says_which_and_works_once_it_has_it() {
    let fleet = FleetStage::with_git();
    let caller = &fleet.stage;
    let third = another(&fleet);
    let _worker = fleet.worker("build-7");
    let project = caller.sandbox.project();
    git(
        caller,
        &project,
        &["commit", "--quiet", "--allow-empty", "-m", "not fetched"],
    );
    let run = ran(caller, "echo new > new.txt");
    let head = caller
        .sandbox
        .command(Path::new("git"))
        .args(["rev-parse", "HEAD"]);
    let head = head.cwd(&project).run().stdout.trim().to_owned();
    let owner = |text: String| {
        let words = text.split_whitespace();
        let at = words.clone().find(|word| word.contains('@'));
        at.map_or(text.clone(), |at| text.replace(at, "<caller>"))
    };
    let refused = third.command(&["diff", &run]).run();
    let refused = third.printed(&refused).replace(&head, "<commit>");
    insta::assert_snapshot!(owner(refused), @"error: task has no result: what it changed could not be fetched: this clone does not have the commit <commit>, which it builds on; push and fetch that commit, or use diff and merge at <caller> (run <run-1>)");
    let clone = third.sandbox.project();
    git(&third, &clone, &["fetch", "--quiet"]);
    let stat = third
        .command(&["diff", &run, "--stat"])
        .run()
        .expect_success();
    assert_eq!(stat.stdout, "new.txt  +1 −0  added\n");
    // Nothing is fetched into a repository that is not the run's. The caller's own, which another
    // machine would not see, is moved away.
    fs::rename(&project, caller.sandbox.root().join("moved")).unwrap();
    let stranger = git_project();
    let other = ["commit", "--quiet", "--amend", "-m", "another project"];
    git(&stranger, &stranger.sandbox.project(), &other);
    stranger.settings(&json!({"fleet": {"servers": [fleet.server.url()]}}));
    let stranger_diff = stranger.command(&["diff", &run]).run();
    insta::assert_snapshot!(stranger.printed(&stranger_diff), @"error: task has no result: what it changed could not be fetched: $PROJECT is not a clone of its repository; pi-subagents diff <run-1> in a clone fetches it (run <run-1>)");
}

#[test]
fn changes_that_could_not_be_fetched_at_the_end_are_fetched_by_the_next_diff() {
    let fleet = FleetStage::with_git();
    let stage = &fleet.stage;
    let _worker = fleet.worker("build-7");
    let run = ran(stage, "echo new > new.txt");
    let pin = format!("refs/pi-subagents/runs/{run}/result");
    git(stage, &stage.sandbox.project(), &["update-ref", "-d", &pin]);
    let stat = stage.command(&["diff", &run, "--stat"]).run();
    assert_eq!(stat.stdout, "new.txt  +1 −0  added\n", "{stat}");
}

#[test]
fn too_many_ignored_files_are_refused_before_anything_is_packed() {
    let fleet = FleetStage::with_git();
    let stage = &fleet.stage;
    let settings =
        json!({"servers": [fleet.server.url()], "include": ["*.local"], "maxInclude": 1});
    stage.settings(&json!({"fleet": settings}));
    let project = stage.sandbox.project();
    fs::write(project.join(".gitignore"), "*.local\n").unwrap();
    for (name, bytes) in [("a.local", 400_000), ("b.local", 700_000)] {
        fs::write(project.join(name), vec![b'x'; bytes]).unwrap();
    }
    let dry = fleet.printed(&["run", "x", "--on", "fleet", "--dry-run"]);
    let real = fleet.printed(&["run", "x", "--on", "fleet"]);
    assert_eq!(dry, real);
    insta::assert_snapshot!(real, @"
    error: subagents.fleet.include names 2 ignored files with 1.1 MB, and at most 10,000 files and 1.0 MB (subagents.fleet.maxInclude) of them are sent
    hint: The largest are:
      700 kB  b.local
      400 kB  a.local
    hint: Name fewer files in include, or allow more with maxInclude.
    exit 1
    ");
}
