//! A killed owner loses nothing: the next command keeps the changes of its run.

use std::time::Duration;

use pi_subagents_testkit::{Signal, wait_for_file};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::WorktreeStage;

#[test]
fn the_next_command_keeps_what_a_killed_owner_left() {
    let stage = WorktreeStage::new();
    let running = stage.command(&[("api", "echo one > a.txt; git add a.txt; git commit -qm one; echo two > b.txt; touch \"$HOME/begun\"; sleep 600")]).spawn();
    let begun = stage.home_path("begun");
    wait_for_file(&begun, Duration::from_mins(1));
    running.kill(Signal::KILL);
    _ = running.wait_for_exit();
    let listed = stage.ours(&["worktrees", "--json"]).run().json();
    let workspace = &listed["worktrees"][0]["workspace"];
    assert_eq!(workspace["state"], "captured");
    assert_eq!(workspace["commits"], 1);
    assert_eq!(workspace["leftUncommitted"], 1);
    stage.ours(&["merge", "api"]).run().expect_success();
    assert_eq!(stage.status(), "?? a.txt\n?? b.txt");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_directory_that_somebody_removed_costs_only_what_was_not_committed() {
    let stage = WorktreeStage::new();
    let script =
        "echo one > a.txt; git add a.txt; git commit -qm one; echo two > b.txt; rm -rf \"$(pwd)\"";
    let output = stage.run(&[("api", script)]);
    let workspace = &output["runs"][0]["workspace"];
    assert_eq!(workspace["state"], "captured");
    assert_eq!(workspace["files"][0]["path"], "a.txt");
    assert_eq!(
        workspace["notes"][0],
        "its directory was removed by somebody else; only what it had committed is kept"
    );
    stage.ours(&["merge", "api"]).run().expect_success();
    assert_eq!(stage.status(), "?? a.txt");
}

#[test]
fn a_worktree_whose_owner_was_killed_while_making_it_is_removed() {
    let stage = WorktreeStage::new();
    let output = stage.plain(&[("api", "ls")]).run().expect_success().json();
    let directory = output["runs"][0]["artifacts"]["directory"]
        .as_str()
        .unwrap();
    let path = stage.home_path("half-made");
    let head = stage.git(&["rev-parse", "HEAD"]);
    stage.git(&[
        "worktree",
        "add",
        "--quiet",
        "--lock",
        "-b",
        "pi-subagents/api",
        &path,
    ]);
    std::fs::remove_file(format!("{path}/kept.txt")).unwrap();
    // The base is pinned before the worktree is made.
    let run = output["runs"][0]["runId"].as_str().unwrap();
    stage.git(&[
        "update-ref",
        &format!("refs/pi-subagents/runs/{run}/base"),
        &head,
    ]);
    let journal = json!({
        "state": "planned",
        "repository": stage.project(),
        "path": path,
        "branch": "pi-subagents/api",
        "base": {"commit": head, "uncommitted": 0},
    });
    std::fs::write(format!("{directory}/workspace.json"), journal.to_string()).unwrap();
    let listed = stage.ours(&["worktrees", "--all", "--json"]).run().json();
    assert_eq!(listed["worktrees"][0]["workspace"]["state"], "unchanged");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(stage.git(&["branch", "--format=%(refname:short)"]), "main");
    assert!(!std::path::Path::new(&path).exists());
}
